// Static quantization: a model in float32 becomes one in QDQ form, by what its values are on
// samples.
//
//   auto model = sardonyx::read_model("model.onnx");
//   sardonyx::optimize(model, {.runtime = "onnxruntime"});
//   for (const std::string& name : sardonyx::observed_values(model)) ...
//   sardonyx::quantize(model, next_sample);
//   sardonyx::write(model, "quantized.onnx");
//
// The library has no runtime: a callback runs the model, in whatever runtime there is.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sardonyx/export.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {

struct QuantizationOptions {
  // "onnxruntime-cpu", "onnxruntime-avx2", "openvino", "tensorrt", "qnn" or "ryzen-ai".
  std::string runtime = "onnxruntime-cpu";
  // "w8a8", "w8a16" or "fp8", as the target has them; empty: its first.
  std::string scheme;
  // How ranges of activations are chosen: "minmax", "percentile", "mse" or "entropy".
  std::string method = "mse";
  double percentile = 99.99;  // of "percentile"
  bool per_channel = true;    // a scale for each output channel of a weight
  bool correct_bias = true;   // biases make up for the means that rounded weights change
  bool round_adaptively = true;
  // How long weights are rounded adaptively, at most: those of the largest products are rounded to
  // nearest then, and two runs may differ.
  double rounding_seconds = std::numeric_limits<double>::infinity();
  // Operator types, or regular expressions of names of nodes, their outputs or weights: what they
  // match stays in float32.
  std::vector<std::string> keep;
  // Such expressions with "a8", "a16" or "keep"; the first that matches counts.
  std::vector<std::pair<std::string, std::string>> mixed;
};

struct QuantizationReport {
  struct Layer {
    std::string name, op, weight, output;
    double weight_error = 0;   // root mean square, as a part of the weight's
    bool is_adaptive = false;  // its weight was rounded by samples
    std::int64_t bytes_before = 0, bytes_after = 0;
  };
  struct Kept {
    std::string name, op, reason;
  };
  std::vector<Layer> layers;  // in the order of the graph
  std::vector<Kept> kept;     // what stays in float32
  std::int64_t activations = 0;
  std::uint64_t samples = 0;
};

// The values of the model that each sample has to give, by name. SX1830 for a target or scheme that
// there is not, SX1831 for a model that has quantized tensors, SX1504 where its opset is too old.
SARDONYX_API std::vector<std::string> observed_values(const Model& model,
                                                      const QuantizationOptions& options = {});

// Adds values to the outputs of a model, so that a runtime gives them.
SARDONYX_API void add_outputs(Model& model, const std::vector<std::string>& names);

// Takes what a value is on a sample: elements in row-major order.
using ObserveValue = std::function<void(const std::string& name, std::span<const float> elements,
                                        std::span<const std::int64_t> dims)>;
// Runs the model on the next sample, and hands over each of its observed values; false where there
// are no more samples. Nothing is kept of the elements.
using NextSample = std::function<bool(const ObserveValue& observe)>;

struct EqualizationOptions {
  bool between_products = true;      // cross-layer equalization
  bool after_normalizations = true;  // SmoothQuant
  double least_gain = 3;             // in decibels, of products on the samples
};

struct EqualizedValue {
  std::string name;
  std::vector<std::string> layers;  // the products that take it
  bool from_normalization = false;  // or else from the product before it
  double gain = 0;                  // in decibels
};

// Moves factors of channels from activations into weights, in place, where products gain by it;
// what the model computes stays the same but for rounding. Before `quantize`, whose samples are
// then those of the changed model: whether it is nearer to the model in float is for the caller to
// measure. Throws as `quantize` does, but for SX1833.
SARDONYX_API std::vector<EqualizedValue> equalize(Model& model, const NextSample& next,
                                                  const QuantizationOptions& options = {},
                                                  const EqualizationOptions& equalization = {});

// Quantizes in place. SX1834 for no samples, a sample that lacks a value, and elements that are NaN
// or infinite; SX1833 where nothing can be quantized. The model is as it was then.
SARDONYX_API QuantizationReport quantize(Model& model, const NextSample& next,
                                         const QuantizationOptions& options = {});

}  // namespace sardonyx

// From a model in float to one with QuantizeLinear and DequantizeLinear around what its target
// computes in integers.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "quantization/calibration.h"
#include "quantization/ranges.h"
#include "quantization/rounded_weights.h"
#include "quantization/statistics.h"
#include "targets/quantization/quantization.h"

namespace sardonyx::quantization {

// Layers whose name, or whose weight's, matches take activations of another type.
struct Mixed {
  std::string pattern;
  base::DType activations;
};

struct Options {
  const targets::QuantizationTarget* target = nullptr;
  const targets::QuantizationScheme* scheme = nullptr;
  std::int64_t opset = 13;  // the oldest one that has all types
  RangeOptions ranges;
  bool per_channel = true;
  bool correct_bias = true;
  // How long weights are rounded by samples, at most, in all attempts; those of the largest
  // products are rounded to nearest then.
  double rounding_seconds = std::numeric_limits<double>::infinity();
  std::vector<std::string> keep;
  std::vector<Mixed> mixed;  // the first that matches counts
};

struct QuantizedLayer {
  std::string name, op, weight, output;
  double weight_error = 0;   // relative, root mean square
  bool is_adaptive = false;  // its weight was rounded by samples
  std::int64_t bytes_before = 0, bytes_after = 0;
};

struct Report {
  std::vector<QuantizedLayer> layers;
  struct Kept {
    std::string name, op, reason;
  };
  std::vector<Kept> kept;
  std::int64_t values = 0;  // activations that are quantized
};

// Throws SX1831 for a model that has quantized tensors, SX1833 where nothing can be quantized, and
// SX1832 where the statistics lack one of its values; the model is as it was then. `rounded`: what
// attempts before this one did to the same weights; may be null.
Report quantize(onnx::Model& model, const Statistics& statistics, const SampledInputs* inputs,
                const Options& options, RoundedWeights* rounded = nullptr);

}  // namespace sardonyx::quantization

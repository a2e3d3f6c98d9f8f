// Factors of channels that move from activations into weights, so that what is quantized together
// has like magnitudes: between two products ("cross-layer equalization", Nagel et al., 2019), and
// from a normalization into the products after it (SmoothQuant, Xiao et al., 2022).
#pragma once

#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "quantization/calibration.h"
#include "quantization/quantize.h"

namespace sardonyx::quantization {

struct EqualizationOptions {
  bool between_products = true;
  bool after_normalizations = true;
  double least_gain = 3;  // in decibels, of the error that quantization leaves in the products
};

struct Equalized {
  std::string value;                // the activation
  std::vector<std::string> layers;  // the products that take it
  bool from_normalization;          // or else from the product before it
  double gain;                      // in decibels, on the samples
};

// Changes constants of the model in place, where the samples of the inputs of products say that
// their error becomes smaller by as much; what the model computes stays the same but for rounding.
// Statistics of the model are to be gathered anew then. None for a scheme of floating point.
// Throws as `quantize` does.
std::vector<Equalized> equalize(onnx::Model& model, const SampledInputs& inputs,
                                const Options& options, const EqualizationOptions& equalization);

}  // namespace sardonyx::quantization

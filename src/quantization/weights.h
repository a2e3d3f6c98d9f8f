// The weight of a product as integers, with a scale for each of its output channels.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/graph/tensor.h"
#include "quantization/layer_inputs.h"

namespace sardonyx::quantization {

struct WeightForm {
  base::DType dtype = base::DType::kInt8;
  int bits = 8;
  bool per_channel = true;
  bool power_of_two = false;
  bool adaptive = true;  // where there are samples: or else each is rounded to nearest
  bool search = true;    // the scale of the least squared error, and not that of the largest weight
};

struct QuantizedWeight {
  onnx::Tensor codes;  // as the weight lies
  std::vector<float> scales;
  bool is_adaptive = false;   // it was rounded by samples
  double relative_error = 0;  // root mean square of the differences, as a part of the weights'
  // Of each output channel: what its mean changes by, for inputs as in the samples.
  std::vector<double> mean_changes;
};

// `least_scales`: what the scale of each channel is at least. `inputs` may be null, or without
// rows: weights are rounded to nearest then. `means`: of each input channel, where there are no
// rows.
QuantizedWeight quantize_weight(const Layer& layer, const WeightForm& form,
                                const std::vector<float>& least_scales, const LayerInputs* inputs,
                                const std::vector<double>& means);

}  // namespace sardonyx::quantization

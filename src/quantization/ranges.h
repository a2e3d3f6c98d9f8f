// From how elements are distributed to the scale and zero point that they are quantized by.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "quantization/histogram.h"

namespace sardonyx::quantization {

enum class Method : std::uint8_t {
  kMinMax,      // all elements are within the range
  kPercentile,  // all but a part at each end
  kMse,         // the least mean squared error of rounding and clipping together
  kEntropy,     // the least divergence of the distribution after quantization, as TensorRT has it
};

struct RangeOptions {
  Method method = Method::kMse;
  double percentile = 99.99;  // of kPercentile, of the elements on each side of zero
};

// Of real numbers; zero is always within.
struct Range {
  double low = 0, high = 0;
};

struct Parameters {
  float scale = 1;
  std::int64_t zero_point = 0;
  base::DType dtype = base::DType::kUndefined;
};

// What an activation is quantized to.
struct Form {
  base::DType dtype;
  bool symmetric = false;
  bool power_of_two = false;
};

Range range_of(const Histogram& histogram, const Form& form, const RangeOptions& options);
Parameters parameters_of(Range range, const Form& form);

}  // namespace sardonyx::quantization

// What becomes of the numbers of a weight in half precision.
#pragma once

#include <cstdint>

#include "kernels/block_quantizer.h"
#include "kernels/rounding_error.h"
#include "onnx/graph/tensor.h"

namespace sardonyx::precision {

enum class Fits : std::uint8_t {
  kYes,
  kNo,       // a number is beyond the largest of the type, or the whole loses more than rounding
  kAsLimit,  // numbers of 1e9 and beyond, which stand for "none": where half ends does as well
};

struct HalfValues {
  Fits fits = Fits::kYes;
  bool beyond = false;  // of what does not fit: a finite number would become infinite
  kernels::CodingError error;
};

using kernels::largest_of;
// What stands for "none" in half: added to another number of the type, it stays finite.
double limit_of(base::DType half);

// Reads all of a float32 tensor, unless it was cast from the half type; one without data fits.
HalfValues in_half(const onnx::Tensor& tensor, base::DType half);

}  // namespace sardonyx::precision

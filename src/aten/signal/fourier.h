// Discrete Fourier transforms of one axis, as products with matrices of roots of unity.
//
// A product is exact to rounding, at any opset, in float32 and float64; its matrix takes up the
// scaling, and leaves out the bins that are not asked for and the padding. Long axes are split into
// factors.
#pragma once

#include <cstdint>

#include "aten/complex/value.h"

namespace sardonyx::aten {

// How a transform of length n is scaled; PyTorch's numbers.
enum class Scaling : std::uint8_t { kNone = 0, kByRoot = 1, kByLength = 2 };

struct Transform {
  Expr length;  // the input is cut, or padded with zeros, to it
  bool inverse = false;
  Scaling scaling = Scaling::kNone;
};

// sum_j x_j exp(-+ 2 pi i j k / n), k = 0 ... n-1. x may be real.
Parts fourier(Emit& onnx, const Parts& x, std::int64_t axis, const Transform& transform);

// The first n/2 + 1 of them: all that there is to say of a real x.
Parts half_fourier(Emit& onnx, const Parts& x, std::int64_t axis, const Transform& transform);

// The real signal of which x is half the spectrum (n/2 + 1 bins of it are read).
Value real_from_half(Emit& onnx, const Parts& x, std::int64_t axis, const Transform& transform);

}  // namespace sardonyx::aten

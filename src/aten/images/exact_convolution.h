// Convolutions by ONNX's operators, and of types that ONNX Runtime convolves in float32 or not at
// all (float64, integers) as products of gathered windows.
#pragma once

#include <cstdint>
#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

struct ConvolutionWindow {
  std::vector<std::int64_t> stride, dilation, output_padding;
  std::vector<std::int64_t> before, after;  // padding
  Expr groups = 1;
};

// x [N, C, sizes...], weight [M, C / groups, kernel...] (transposed: [C, M / groups, kernel...]),
// bias [M] or absent. In the way that the runtime computes right:
Value convolved(Emit& onnx, Value x, Value weight, Value bias, const ConvolutionWindow& window,
                bool transposed);
// As products:
Value convolved_exactly(Emit& onnx, Value x, Value weight, Value bias,
                        const ConvolutionWindow& window);
Value transposed_convolved_exactly(Emit& onnx, Value x, Value weight, Value bias,
                                   const ConvolutionWindow& window);

}  // namespace sardonyx::aten

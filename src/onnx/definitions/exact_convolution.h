// Convolutions as products of gathered windows, of any type that is multiplied.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

struct ConvolutionWindow {
  std::vector<std::int64_t> stride, dilation, output_padding;
  std::vector<std::int64_t> before, after;  // padding
  Expr groups = 1;
};

// x [N, C, sizes...], weight [M, C / groups, kernel...] (transposed: [C, M / groups, kernel...]),
// bias [M] or absent.
Value convolved_exactly(Emit& onnx, Value x, Value weight, Value bias,
                        const ConvolutionWindow& window);
Value transposed_convolved_exactly(Emit& onnx, Value x, Value weight, Value bias,
                                   const ConvolutionWindow& window);

}  // namespace sardonyx::onnx

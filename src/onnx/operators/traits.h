// What stages know of ONNX's operators beyond their schemas, in one table.
#pragma once

#include <cstdint>

#include "onnx/operators/operator.h"

namespace sardonyx::onnx {

enum class Trait : std::uint8_t {
  // All inputs broadcast to the shape of the result, each element of which comes of theirs alone.
  kBroadcasts = 1U << 0U,
  // Each element of the result comes of that of the first input alone; other inputs are optional
  // and hold one number.
  kPointwise = 1U << 1U,
  // Elements of the results are elements of the first input, unchanged; other inputs say which.
  kRearranges = 1U << 2U,
  // Reduces over axes, by keepdims; `axes` is an input since opset 18 at the latest.
  kReduces = 1U << 3U,
  // Finds a position along one axis, by keepdims.
  kFindsPosition = 1U << 4U,
  // a op b is b op a, to the last bit.
  kCommutes = 1U << 5U,
  // Plain arithmetic, as of positions: its results need the precision of its operands.
  kArithmetic = 1U << 6U,
  // Stays in float32 where a model computes in half: PyTorch's autocast does so, or rounding
  // operands to half changes the result by more than rounding.
  kSensitive = 1U << 7U,
};

// False for operators of other domains.
bool has_trait(Op op, Trait trait);

}  // namespace sardonyx::onnx

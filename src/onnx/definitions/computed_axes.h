// Operators whose axes are known only at run time, where the older form has them as an attribute.
#pragma once

#include <cstdint>
#include <optional>

#include "onnx/definitions/definitions.h"

namespace sardonyx::onnx {

// x as [before, size, after, last...], where the axis (an integer tensor of one element) is the
// second one.
class ComputedAxis {
 public:
  struct Options {
    std::int64_t last = 0;                  // axes that stay; the axis is none of them
    std::optional<bool> may_be_empty = {};  // x; its shape says so where this does not
  };
  ComputedAxis(Emit& onnx, Value x, Value axis, Options options);

  static constexpr std::int64_t kPlace = 1;
  Value joined() const { return joined_; }
  // What was computed of joined(), with the axes of x. The axis and the last ones may have other
  // sizes than in x.
  Value restored(Value y) const;

 private:
  Value reshaped(Value x, Value sizes) const;

  Emit& onnx_;
  std::int64_t last_;
  bool may_be_empty_;
  Value before_, after_;  // sizes of the axes of x on either side, int64 [n]
  Value joined_;
};

// A reduction over computed axes. Nothing where their number is known only at run time, and that
// matters.
std::optional<Values> reduce_over_computed_axes(const Composite& call, Op op);

// The pads of all axes of a tensor of this rank, of those of computed axes.
Value pads_of_all_axes(Emit& onnx, Value pads, Value axes, std::int64_t rank);

}  // namespace sardonyx::onnx

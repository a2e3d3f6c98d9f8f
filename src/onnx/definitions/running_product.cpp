#include "onnx/definitions/running_product.h"

#include <limits>

#include "onnx/definitions/computed_axes.h"
#include "onnx/definitions/prefix_scan.h"

namespace sardonyx::onnx {
namespace {

constexpr std::int64_t kBegin = std::numeric_limits<std::int64_t>::min();

// What stands before each element, a one before the first.
Value moved_up(Emit& onnx, Value x, std::int64_t axis) {
  const Value none = onnx.expand(onnx.one(x.dtype()), onnx.shape_of(onnx.slice(x, axis, 0, 1)));
  return onnx.concat({none, onnx.slice(x, axis, 0, -1)}, axis);
}

}  // namespace

std::optional<Values> running_product(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value given = call.input(0);
  if (!call.input(1) || !given.has_rank() || given.rank() == 0) return std::nullopt;
  const auto axes = call.input(1).ints();
  if (axes && axes->size() != 1) return std::nullopt;
  std::optional<ComputedAxis> computed;
  if (!axes) computed.emplace(onnx, given, call.input(1), ComputedAxis::Options{});
  std::int64_t axis = axes ? axes->front() : ComputedAxis::kPlace;
  if (axis < 0) axis += given.rank();
  const bool reversed = call.integer("reverse", 0) != 0;
  const auto turned = [&](Value y) { return reversed ? onnx.slice(y, axis, -1, kBegin, -1) : y; };
  Value x = turned(computed ? computed->joined() : given);
  if (call.integer("exclusive", 0) != 0) x = moved_up(onnx, x, axis);
  const auto product = [&](const Values& earlier, const Values& later) {
    return Values{onnx.mul(earlier.front(), later.front())};
  };
  const Value y = turned(prefix_scan(onnx, {x}, axis, product).front());
  return Values{computed ? computed->restored(y) : y};
}

}  // namespace sardonyx::onnx

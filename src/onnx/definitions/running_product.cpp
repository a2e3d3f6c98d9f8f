#include "onnx/definitions/running_product.h"

#include <limits>

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
  Value x = call.input(0);
  const auto axes = call.input(1) ? call.input(1).ints() : std::nullopt;
  if (!axes || axes->size() != 1 || !x.has_rank()) return std::nullopt;
  const std::int64_t axis = axes->front() < 0 ? axes->front() + x.rank() : axes->front();
  const bool reversed = call.integer("reverse", 0) != 0;
  const auto turned = [&](Value y) { return reversed ? onnx.slice(y, axis, -1, kBegin, -1) : y; };
  x = turned(x);
  if (call.integer("exclusive", 0) != 0) x = moved_up(onnx, x, axis);
  const auto product = [&](const Values& earlier, const Values& later) {
    return Values{onnx.mul(earlier.front(), later.front())};
  };
  return Values{turned(prefix_scan(onnx, {x}, axis, product).front())};
}

}  // namespace sardonyx::onnx

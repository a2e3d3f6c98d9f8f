#include "onnx/definitions/prefix_scan.h"

#include <algorithm>
#include <limits>

namespace sardonyx::onnx {
namespace {

bool is_sized(Emit& onnx, Expr dim) { return dim.known() && onnx.can_size(dim); }

// [1]
Value length_of(Emit& onnx, Value x, std::int64_t axis) {
  return is_sized(onnx, x.dim(axis)) ? onnx.sizes({x.dim(axis)}) : onnx.dim_of(x, axis);
}

// The element in the shape of x, whose axis has size 1.
Value one_along(Emit& onnx, Value x, std::int64_t axis, Value element) {
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = 1;
  if (std::ranges::all_of(shape, [&](Expr dim) { return is_sized(onnx, dim); }))
    return onnx.full(shape, element);
  Values sizes;
  for (std::int64_t i = 0; i < x.rank(); ++i)
    sizes.push_back(i == axis ? onnx.ints({1}) : length_of(onnx, x, i));
  return onnx.expand(element, onnx.concat(sizes, 0));
}

}  // namespace

Values prefix_scan(Emit& onnx, const Values& states, std::int64_t axis, const Combine& combine) {
  const Expr length = states.front().dim(axis);
  if (length.known() && (length.is(0) || length.is(1))) return states;
  const Value count = length_of(onnx, states.front(), axis), axes = onnx.ints({axis}),
              zero = onnx.ints({0});
  const auto goes_on = [&](Value distance) {
    return onnx.reshape(onnx.less(distance, count), Shape{});
  };
  Values initial = {onnx.ints({1})};
  initial.insert(initial.end(), states.begin(), states.end());

  Graph* body = onnx.begin_body("prefix_scan");
  onnx.body_input("step", DType::kInt64, {});
  onnx.body_input("condition", DType::kBool, {});
  const Value distance = onnx.body_input("distance", DType::kInt64, Shape{1});
  Values heads, earlier, later;
  for (const Value state : states) {
    const Value x = onnx.body_input("state", state.dtype(), state.shape());
    heads.push_back(onnx.slice(x, zero, distance, axes));
    earlier.push_back(onnx.slice(x, zero, onnx.sub(count, distance), axes));
    later.push_back(onnx.slice(x, distance, count, axes));
  }
  const Values combined = combine(earlier, later);
  const Value further = onnx.add(distance, distance);
  Values results = {goes_on(further), further};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Value whole = onnx.concat({heads[i], combined[i]}, axis);
    Emit::set_type(whole, states[i].dtype(), states[i].shape());
    results.push_back(whole);
  }
  onnx.end_body(results);
  Values found = onnx.loop({}, goes_on(onnx.ints({1})), initial, body);
  found.erase(found.begin());
  return found;
}

Value last_of_scan(Emit& onnx, Value x, std::int64_t axis, const Combine& combine, Value neutral) {
  const Value padded = onnx.concat({one_along(onnx, x, axis, neutral), x}, axis);
  const Value last = prefix_scan(onnx, {padded}, axis, combine).front();
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return onnx.Operators::slice(last, onnx.ints({-1}), onnx.ints({kEnd}), onnx.ints({axis}));
}

}  // namespace sardonyx::onnx

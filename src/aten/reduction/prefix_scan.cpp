#include "aten/reduction/prefix_scan.h"

namespace sardonyx::aten {

onnx::Values prefix_scan(Emit& onnx, const onnx::Values& states, std::int64_t axis,
                         const Combine& combine) {
  const Expr length = states.front().dim(axis);
  if (length.is(0) || length.is(1)) return states;
  const Value count = onnx.sizes({length}), axes = onnx.ints({axis}), zero = onnx.ints({0});
  const auto goes_on = [&](Value distance) {
    return onnx.reshape(onnx.less(distance, count), Shape{});
  };
  onnx::Values initial = {onnx.ints({1})};
  initial.insert(initial.end(), states.begin(), states.end());

  onnx::Graph* body = onnx.begin_body("prefix_scan");
  onnx.body_input("step", DType::kInt64, {});
  onnx.body_input("condition", DType::kBool, {});
  const Value distance = onnx.body_input("distance", DType::kInt64, Shape{1});
  onnx::Values heads, earlier, later;
  for (const Value state : states) {
    const Value x = onnx.body_input("state", state.dtype(), state.shape());
    heads.push_back(onnx.slice(x, zero, distance, axes));
    earlier.push_back(onnx.slice(x, zero, onnx.sub(count, distance), axes));
    later.push_back(onnx.slice(x, distance, count, axes));
  }
  const onnx::Values combined = combine(earlier, later);
  const Value further = onnx.add(distance, distance);
  onnx::Values results = {goes_on(further), further};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Value whole = onnx.concat({heads[i], combined[i]}, axis);
    Emit::set_type(whole, states[i].dtype(), states[i].shape());
    results.push_back(whole);
  }
  onnx.end_body(results);
  onnx::Values found = onnx.loop({}, goes_on(onnx.ints({1})), initial, body);
  found.erase(found.begin());
  return found;
}

}  // namespace sardonyx::aten

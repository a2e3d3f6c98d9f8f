#include "onnx/definitions/scatters.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

bool is_sized(Emit& onnx, Value x) {
  return x.has_rank() && std::ranges::all_of(x.shape(), [&](Expr dim) {
           return dim.known() && onnx.can_size(dim);
         });
}

Value combined(Emit& onnx, std::string_view reduction, Value a, Value b) {
  b = onnx.cast(b, a.dtype());
  const bool truth = a.dtype() == DType::kBool;
  if (reduction == "add") return truth ? onnx.or_(a, b) : onnx.add(a, b);
  if (reduction == "mul") return truth ? onnx.and_(a, b) : onnx.mul(a, b);
  if (reduction == "max") return truth ? onnx.or_(a, b) : onnx.max({a, b});
  return truth ? onnx.and_(a, b) : onnx.min({a, b});
}

// data, step by step; `written(data, step)` is what it becomes, step being int64 [1]. Before opset
// 16 a Loop carries no bfloat16.
template <class Written>
Value step_by_step(Emit& onnx, Value given, Expr steps, const Written& written) {
  const bool carried = given.dtype() != DType::kBFloat16;
  const Value data = carried ? given : onnx.cast(given, DType::kFloat32);
  Graph* body = onnx.begin_body("scatter");
  const Value step = onnx.body_input("step", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  const Value before = onnx.body_input("data", data.dtype(), data.shape());
  const std::array results = {onnx.identity(condition), written(before, onnx.unsqueeze(step, {0}))};
  Emit::set_type(results[1], data.dtype(), data.shape());
  onnx.end_body(results);
  const Value found = onnx.loop(onnx.size(steps), onnx.bool_scalar(true), {&data, 1}, body).front();
  return onnx.cast(found, given.dtype());
}

bool is_one(Value x) { return x.has_rank() && x.element_count().is(1); }

// The element that was spread over all of x; absent where they may differ.
Value only_one_of(Value x) {
  const Node* spread = x->producer;
  if (spread == nullptr || !spread->is(Op::kExpand) || !is_one(spread->input(0))) return {};
  const Value one = spread->input(0);
  const Node* shaped = one->producer;
  if (shaped == nullptr || !(shaped->is(Op::kReshape) || shaped->is(Op::kUnsqueeze))) return one;
  return is_one(shaped->input(0)) && Value(shaped->input(0)).rank() <= 1 ? Value(shaped->input(0))
                                                                         : one;
}

}  // namespace

std::optional<Values> scatter_elements_by_slices(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value data = call.input(0), indices = call.input(1), updates = call.input(2);
  if (!updates || !data.has_rank() || !is_sized(onnx, indices)) return std::nullopt;
  const std::string reduction = call.text("reduction", "none");
  std::int64_t axis = call.integer("axis", 0);
  if (axis < 0) axis += data.rank();
  const auto written = [&](Value before, Value step) {
    const Value places = onnx.gather(indices, step, {.axis = axis});
    const Value there = onnx.gather_elements(before, places, {.axis = axis});
    const Value here = onnx.gather(updates, step, {.axis = axis});
    return onnx.scatter_elements(before, places, combined(onnx, reduction, there, here),
                                 {.axis = axis});
  };
  return Values{step_by_step(onnx, data, indices.dim(axis), written)};
}

std::optional<Values> scatter_nd_by_indices(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value data = call.input(0), indices = call.input(1), updates = call.input(2);
  if (!updates || !data.has_rank() || !is_sized(onnx, indices) || !is_sized(onnx, updates))
    return std::nullopt;
  const std::string reduction = call.text("reduction", "none");
  const auto axes = indices.rank() - 1;
  Expr count = 1;
  for (std::int64_t axis = 0; axis < axes; ++axis) count = count * indices.dim(axis);
  Shape rows = {count};
  rows.insert(rows.end(), updates.shape().begin() + axes, updates.shape().end());
  const Value all_places = onnx.reshape(indices, {count, indices.dim(-1)});
  const Value all_updates = onnx.reshape(updates, rows);
  const auto written = [&](Value before, Value step) {
    const Value place = onnx.gather(all_places, step, {.axis = 0});
    const Value there = onnx.gather_nd(before, place);
    const Value here = onnx.gather(all_updates, step, {.axis = 0});
    return onnx.scatter_nd(before, place, combined(onnx, reduction, there, here));
  };
  return Values{step_by_step(onnx, data, count, written)};
}

std::optional<Values> tensor_scatter_by_elements(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value cache = call.input(0), update = call.input(1);
  if (!update || !is_sized(onnx, cache) || !is_sized(onnx, update)) return std::nullopt;
  std::int64_t axis = call.integer("axis", -2);
  if (axis < 0) axis += cache.rank();
  Value starts = call.input(2);
  const Value start = starts ? only_one_of(starts) : onnx.int_scalar(0);
  if (start) starts = {};
  // [length] or [batch, length]
  const Value range = onnx.range(update.dim(axis));
  Value places = starts ? onnx.add(onnx.unsqueeze(starts, {1}), range) : onnx.add(range, start);
  if (call.text("mode", "linear") == "circular")
    places = onnx.mod(places, onnx.size(cache.dim(axis)));
  // Against the axes of the update: the first and the one that is written along.
  std::vector<std::int64_t> around;
  for (std::int64_t i = starts ? 1 : 0; i < cache.rank(); ++i)
    if (i != axis) around.push_back(i);
  const Value index = onnx.expand(onnx.unsqueeze(places, around), update.shape());
  return Values{onnx.scatter_elements(cache, index, update, {.axis = axis})};
}

}  // namespace sardonyx::onnx

#include "passes/rules/attention/two_axes_of_heads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/gen/op.h"
#include "passes/rules/attention/heads.h"
#include "passes/rules/reshape/reshaping.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;
using rewriting::Patch;

using Order = std::vector<std::int64_t>;

// In this shape, where that is no more than one node.
ValueInfo* as(const Shape& to, ValueInfo* value, std::string_view name, Patch& patch) {
  ValueInfo* const y = reshaped(patch, value, to, name);
  if (y == nullptr || y == value) return y;
  return y->producer->input(1)->constant != nullptr ? y : nullptr;
}

// The order without the second one of two axes that stand one behind the other before and after;
// nothing where they do not.
std::optional<Order> without(std::int64_t second, Order order) {
  const auto at = std::ranges::find(order, second);
  if (at == order.begin() || at == order.end() || *(at - 1) != second - 1) return std::nullopt;
  order.erase(at);
  for (std::int64_t& axis : order)
    if (axis > second) --axis;
  return order;
}

Shape joined(Shape shape, std::size_t second) {
  shape[second - 1] = shape[second - 1] * shape[second];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(second));
  return shape;
}

const Order* order_of(const Node* transpose, std::size_t rank) {
  const Order* order = transpose == nullptr ? nullptr : transpose->ints("perm");
  return order != nullptr && order->size() == rank ? order : nullptr;
}

}  // namespace

bool fit_by_two_axes(const ValueInfo* q, const ValueInfo* k, const ValueInfo* v) {
  if (!is_known(q, 5) || !is_known(k, 5) || !is_known(v, 5)) return false;
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}})
    if (!(q->shape[axis] == k->shape[axis]) || !(q->shape[axis] == v->shape[axis])) return false;
  return q->shape[1].is_constant() && q->shape[2].is_constant() && k->shape[2].is(1) &&
         v->shape[2].is(1) && q->shape[4] == k->shape[4] && k->shape[3] == v->shape[3];
}

ValueInfo* with_one_axis_of_heads(ValueInfo* value, Patch& patch) {
  // Before a transposition there may be nothing to compute, and the axes are parted there.
  const Node* transpose = rewriting::made_by(value, Op::kTranspose);
  if (const Order* order = order_of(transpose, 5); order != nullptr && !value->shape[2].is(1)) {
    const std::int64_t second = (*order)[2];
    const auto left = without(second, *order);
    ValueInfo* const x = transpose->input(0);
    ValueInfo* const together =
        left ? as(joined(x->shape, static_cast<std::size_t>(second)), x, x->name + "_heads", patch)
             : nullptr;
    if (together != nullptr)
      return patch.node(Op::kTranspose, {together}, {{"perm", *left, {}}}, value->name + "_heads");
  }
  const Shape to = joined(value->shape, 2);
  const Node* unsqueeze = rewriting::made_by(value, Op::kUnsqueeze);
  if (unsqueeze != nullptr && unsqueeze->input(0)->has_rank && unsqueeze->input(0)->shape == to)
    return unsqueeze->input(0);
  return as(to, value, value->name + "_heads", patch);
}

ValueInfo* mask_with_one_axis_of_heads(ValueInfo* mask, Patch& patch) {
  if (!mask->has_rank) return nullptr;
  const Shape& shape = mask->shape;
  for (std::size_t axis = shape.size() == 5 ? 1 : 0; axis + 2 < shape.size(); ++axis)
    if (!shape[axis].is(1)) return nullptr;
  return shape.size() == 5 ? as(joined(shape, 2), mask, mask->name + "_heads", patch) : mask;
}

bool replace_by_one_axis_of_heads(ValueInfo* value, ValueInfo* joined, Patch& patch) {
  if (joined == nullptr) return true;  // the patch has failed, and says so
  const Node* transpose = rewriting::used_once(value) ? value->uses.front().node : nullptr;
  if (transpose != nullptr && !transpose->is(Op::kTranspose)) transpose = nullptr;
  const Order* order = order_of(transpose, 5);
  if (const auto left = order == nullptr ? std::nullopt : without(2, *order)) {
    ValueInfo* const y = transpose->output();
    ValueInfo* const turned = patch.node(Op::kTranspose, {joined}, {{"perm", *left, {}}}, y->name);
    ValueInfo* const parted = turned == nullptr ? nullptr : as(y->shape, turned, y->name, patch);
    if (parted != nullptr) {
      patch.replace(y, parted);
      return true;
    }
  }
  ValueInfo* const parted = as(value->shape, joined, value->name, patch);
  if (parted != nullptr) patch.replace(value, parted);
  return parted != nullptr || patch.failed();
}

}  // namespace sardonyx::passes

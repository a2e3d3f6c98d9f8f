#include "frontends/torchscript/interpreter/squeezes.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/interruptions.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using symbolic::Expr;

namespace {

// The axes to remove, counted from the front; nothing where they are data-dependent.
std::optional<std::vector<std::size_t>> axes_of(const Operands& operands, std::size_t rank) {
  std::vector<AbstractValue> asked;
  const AbstractValue* dim = operands.find(1, "dim");
  if (!dim) {
    for (std::size_t i = 0; i < rank; ++i)
      asked.push_back(AbstractValue::of_int(static_cast<std::int64_t>(i)));
  } else if (dim->kind == Kind::kInt) {
    asked = {*dim};
  } else if (dim->kind == Kind::kList || dim->kind == Kind::kTuple) {
    asked = dim->held->items;
  } else {
    return std::nullopt;
  }
  std::vector<std::size_t> axes;
  for (const AbstractValue& each : asked) {
    const auto axis = each.kind == Kind::kInt ? each.expr.constant() : std::nullopt;
    const auto end = static_cast<std::int64_t>(rank);
    if (!axis || *axis < -end || *axis >= end) return std::nullopt;
    axes.push_back(static_cast<std::size_t>(*axis < 0 ? *axis + end : *axis));
  }
  return axes;
}

// A covariance, which PyTorch squeezes: that of one variable is a number.
std::optional<AbstractValue> covariance(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* self = operands.find(0, "self");
  const bool has_rank = self && self->is_tensor() && self->value && self->value->has_rank;
  if (!has_rank || self->value->shape.size() != 2 || self->value->shape[0].is_constant())
    return std::nullopt;
  Resolved resolved = resolve(recorder, operands);
  return recorder.call("aten::squeeze",
                       {recorder.call(*resolved.schema, std::move(resolved.arguments))});
}

}  // namespace

std::optional<AbstractValue> squeeze(GraphRecorder& recorder, SizeAssumptions& sizes,
                                     const Operands& operands) {
  if (operands.op == "aten::cov" || operands.op == "aten::corrcoef")
    return covariance(recorder, operands);
  if (operands.op != "aten::squeeze" || operands.positional.empty()) return std::nullopt;
  const AbstractValue& self = operands.positional.front();
  if (!self.is_tensor() || !self.value || !self.value->has_rank) return std::nullopt;
  const std::vector<Expr> shape = self.value->shape;
  const auto axes = axes_of(operands, shape.size());
  if (!axes || std::ranges::all_of(*axes, [&](std::size_t i) { return shape[i].is_constant(); }))
    return std::nullopt;
  std::vector<std::size_t> removed;
  bool keeps = false;  // as torch.export has it, which the conversion reports
  for (const std::size_t axis : *axes) {
    const auto is_removed = sizes.is_one(shape[axis]);
    if (!is_removed) {
      if (const auto level = sizes.decide_rank(shape[axis]))
        throw SizeDecides{equals_one(shape[axis]), *level};
      keeps = true;
    } else if (*is_removed) {
      removed.push_back(axis);
    }
  }
  if (keeps && (removed.empty() || !sizes.branches())) return std::nullopt;
  std::ranges::sort(removed, std::greater<>());
  AbstractValue made = recorder.call("aten::alias", {self});
  for (const std::size_t axis : removed) {
    const auto at = static_cast<std::int64_t>(axis);
    made =
        recorder.call("aten::select", {made, AbstractValue::of_int(at), AbstractValue::of_int(0)});
  }
  return made;
}

}  // namespace sardonyx::torchscript

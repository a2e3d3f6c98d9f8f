// Before: y = Gather(DequantizeLinear(table, scale, zero), ids)
// After:  y = DequantizeLinear(Gather(table, ids), scale, zero)
// Of a table whose rows have scales of their own:
//         y = Mul(Cast(Gather(table, ids)), Gather(scale, ids))
// What is looked up is dequantized, and not the whole table at each run. The same for a Slice.
#include <algorithm>
#include <optional>
#include <vector>

#include "onnx/graph/recipe.h"
#include "passes/rules/quantization/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

// Fewer elements are dequantized in less time than what is looked up of them may take.
constexpr std::int64_t kLargeTable = std::int64_t{1} << 14;

bool is_constant(const ValueInfo* value) {
  return value != nullptr && value->constant != nullptr && value->producer == nullptr;
}

bool is_quantized_again(const ValueInfo* value) {
  return value->returns.empty() && !value->uses.empty() &&
         std::ranges::all_of(value->uses, [](const onnx::Use& use) {
           return use.node->is(Op::kQuantizeLinear) && use.index == 0;
         });
}

// The DequantizeLinear of a constant table that is worth it; null for any other input.
const Node* dequantized_table(const Node* root) {
  const Node* const made_by = root->input(0) == nullptr ? nullptr : root->input(0)->producer;
  if (made_by == nullptr || !made_by->is(Op::kDequantizeLinear)) return nullptr;
  const ValueInfo* const table = made_by->input(0);
  const bool is_large = is_constant(table) && table->constant->element_count() >= kLargeTable;
  const bool is_worth_it = is_large || (is_constant(table) && is_quantized_again(root->output()));
  return is_worth_it && made_by->int_or("block_size", 0) == 0 && made_by->input(1)->has_rank
             ? made_by
             : nullptr;
}

std::int64_t counted(std::int64_t axis, std::int64_t rank) { return axis < 0 ? axis + rank : axis; }

// The axis whose entries have scales of their own; nothing where there is one scale.
std::optional<std::int64_t> scaled_axis(const Node* dequantize) {
  if (dequantize->input(1)->shape.empty()) return std::nullopt;
  return counted(dequantize->int_or("axis", 1),
                 static_cast<std::int64_t>(dequantize->input(0)->shape.size()));
}

// The axes that a Slice cuts; nothing where they are not known.
std::optional<std::vector<std::int64_t>> cut_axes(const Node* slice) {
  if (!is_constant(slice->input(3))) return std::nullopt;
  auto axes = slice->input(3)->constant->ints();
  const auto rank = static_cast<std::int64_t>(slice->input(0)->shape.size());
  if (axes)
    for (std::int64_t& axis : *axes) axis = counted(axis, rank);
  return axes;
}

ValueInfo* looked_up(Patch& patch, const Node* root, ValueInfo* table) {
  std::vector<ValueInfo*> inputs = root->inputs;
  inputs[0] = table;
  return patch.node(root->op, std::move(inputs), root->attributes, table->name + "_taken");
}

ValueInfo* dequantized(Patch& patch, const Node* root, const Node* dequantize,
                       std::optional<std::int64_t> axis) {
  std::vector<ValueInfo*> inputs = dequantize->inputs;
  inputs[0] = looked_up(patch, root, dequantize->input(0));
  std::vector<onnx::Attribute> attributes = dequantize->attributes;
  std::erase_if(attributes, [](const onnx::Attribute& each) { return each.name == "axis"; });
  if (axis) attributes.push_back({"axis", *axis, {}});
  return patch.node(Op::kDequantizeLinear, std::move(inputs), std::move(attributes),
                    root->output()->name);
}

bool is_zero(const ValueInfo* zero_points) {
  if (zero_points == nullptr) return true;
  const auto ints = is_constant(zero_points) ? zero_points->constant->ints() : std::nullopt;
  return ints && std::ranges::all_of(*ints, [](std::int64_t each) { return each == 0; });
}

// Rows and their scales, one beside the other; null where zero points would have to be, too.
ValueInfo* scaled_rows(Patch& patch, const Node* gather, const Node* dequantize) {
  ValueInfo *const table = dequantize->input(0), *const scale = dequantize->input(1);
  if (!is_constant(scale) || !is_zero(dequantize->input(2)) ||
      scale->dtype != gather->output()->dtype)
    return nullptr;
  std::vector<std::int64_t> dims = scale->constant->dims;
  dims.resize(table->shape.size(), 1);
  patch.fold_in(scale);
  ValueInfo* const column =
      patch.weight(scale->name + "_rows", *onnx::with_dims(*scale->constant, std::move(dims)));
  ValueInfo* const rows = patch.cast(looked_up(patch, gather, table), scale->dtype);
  return patch.node(Op::kMul, {rows, looked_up(patch, gather, column)}, {}, gather->output()->name);
}

bool rewrite(Node* root, RuleContext& context) {
  const Node* const dequantize = dequantized_table(root);
  if (dequantize == nullptr || !root->input(0)->has_rank) return false;
  const auto rank = static_cast<std::int64_t>(root->input(0)->shape.size());
  std::optional<std::int64_t> axis = scaled_axis(dequantize);
  Patch patch(context, root);
  ValueInfo* result = nullptr;
  if (root->is(Op::kSlice)) {
    const auto cut = cut_axes(root);
    if (axis && (!cut || std::ranges::find(*cut, *axis) != cut->end()))
      return context.decline(root, "it cuts the axis whose entries have scales of their own");
    result = dequantized(patch, root, dequantize, axis);
  } else {
    const std::int64_t taken = counted(root->int_or("axis", 0), rank);
    if (!root->input(1)->has_rank) return context.decline(root, "the indices have no known rank");
    const auto more = static_cast<std::int64_t>(root->input(1)->shape.size()) - 1;
    if (axis == taken) {
      result = taken == 0 ? scaled_rows(patch, root, dequantize) : nullptr;
    } else {
      if (axis && *axis > taken) *axis += more;
      result = dequantized(patch, root, dequantize, axis);
    }
    if (result == nullptr && !patch.failed())
      return context.decline(root, "the entries that it takes have scales of their own");
  }
  patch.replace(root->output(), result);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kGather, Op::kSlice};

}  // namespace

const Rule kGatherBeforeDequantize = {"gather-before-dequantize", kRoots, rewrite, 13};

}  // namespace sardonyx::passes

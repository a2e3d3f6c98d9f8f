// Before: y = MatMul(x, DequantizeLinear<axis = 0>(w, scale, zero_point))
// After:  y = MatMul(x, Mul(Sub(Cast(w), Cast(Unsqueeze(zero_point))), Unsqueeze(scale)))
// ONNX Runtime turns products of dequantised tensors into products of integers, for which it takes
// every scale that is not a single number for one of the second factor's output channels, whatever
// axis it stands for. Where it stands for another, such a product is wrong or fails.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "passes/corrections.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Use;
using onnx::ValueInfo;

// A tensor with a scale for each entry along `axis`.
struct Scaled {
  const ValueInfo* value;
  std::int64_t axis;

  std::int64_t rank() const { return static_cast<std::int64_t>(value->shape.size()); }
};

bool read_as_meant(const Scaled& x);

bool read_transposed(const Scaled& x, const Node* transpose) {
  const ValueInfo* output = transpose->output();
  if (output == nullptr || !output->has_rank) return true;
  const std::vector<std::int64_t>* perm = transpose->ints("perm");
  std::int64_t axis = x.rank() - 1 - x.axis;
  if (perm != nullptr) axis = std::ranges::find(*perm, x.axis) - perm->begin();
  return read_as_meant({output, axis});
}

bool read_as_meant(const Scaled& x, const Use& use) {
  const Node* node = use.node;
  if (node->is("Transpose")) return read_transposed(x, node);
  if (node->is("MatMul")) return use.index == 1 && x.rank() == 2 && x.axis == 1;
  if (node->is("Gemm")) {
    const std::int64_t channels = node->int_or("transB", 0) != 0 ? 0 : 1;
    return use.index == 1 && x.axis == channels;
  }
  if (node->is("Conv")) return use.index == 1 && x.axis == 0;
  return true;  // ONNX Runtime has no product of integers for it
}

bool read_as_meant(const Scaled& x) {
  return std::ranges::all_of(x.value->uses, [&](const Use& use) { return read_as_meant(x, use); });
}

// Scales or zero points, which broadcast against the tensor of this rank.
ValueInfo* along(Node* position, ValueInfo* entries, const Scaled& x) {
  std::vector<std::int64_t> behind;
  for (std::int64_t axis = x.axis + 1; axis < x.rank(); ++axis) behind.push_back(axis - x.axis);
  if (behind.empty()) return entries;
  const auto count = static_cast<std::int64_t>(behind.size());
  ValueInfo* const axes =
      position->graph->model->add_constant(onnx::Tensor::of_ints(behind, {count}));
  return insert_node(position, "Unsqueeze", {entries, axes}, {}, entries->name + "_Unsqueeze")
      ->output();
}

// The axis of a DequantizeLinear whose every entry has a scale of its own; nothing for one scale.
std::optional<Scaled> scales_of(const Node* node) {
  const ValueInfo* y = node->output();
  const ValueInfo* scale = node->input(1);
  if (scale->shape.size() != 1 || scale->shape[0].is(1)) return std::nullopt;
  const std::int64_t axis = node->int_or("axis", 1);
  const auto rank = static_cast<std::int64_t>(y->shape.size());
  return Scaled{y, axis < 0 ? axis + rank : axis};
}

// A DequantizeLinear of known ranks and without blocks.
bool is_plain(const Node* node) {
  if (!node->is("DequantizeLinear") || node->int_or("block_size", 0) != 0) return false;
  return node->output() != nullptr && node->output()->has_rank && node->input(1)->has_rank;
}

bool spell_out(Node* node) {
  ValueInfo* const y = node->output();
  ValueInfo* const scale = node->input(1);
  const std::optional<Scaled> scales = scales_of(node);
  const auto against = [&](ValueInfo* entries) {
    return scales ? along(node, entries, *scales) : entries;
  };
  ValueInfo* steps = insert_cast(node, node->input(0), scale->dtype);
  if (ValueInfo* zero_point = node->input(2)) {
    ValueInfo* const zero = against(insert_cast(node, zero_point, scale->dtype));
    steps = insert_node(node, "Sub", {steps, zero}, {}, y->name + "_Sub")->output();
  }
  return replace(y, insert_node(node, "Mul", {steps, against(scale)}, {}, y->name)->output());
}

// Whether a product takes it for its second factor beside a first one that is not dequantised.
bool is_weight_of_reals(const ValueInfo* weight) {
  return std::ranges::any_of(weight->uses, [](const Use& use) {
    if (use.node->is("Transpose")) {
      return use.node->output() != nullptr && is_weight_of_reals(use.node->output());
    }
    return use.node->is("MatMul") && use.index == 1 &&
           made_by(use.node->input(0), "DequantizeLinear") == nullptr;
  });
}

}  // namespace

bool spell_out_scales(onnx::Model& model) {
  return opset_of(model) >= 13 && each_node(model.graph, [](Node* node) {
           if (!is_plain(node)) return false;
           const std::optional<Scaled> scales = scales_of(node);
           return scales && !read_as_meant(*scales) && spell_out(node);
         });
}

bool spell_out_weights(onnx::Model& model) {
  return opset_of(model) >= 13 && each_node(model.graph, [](Node* node) {
           return is_plain(node) && node->input(0)->constant != nullptr &&
                  is_weight_of_reals(node->output()) && spell_out(node);
         });
}

}  // namespace sardonyx::passes

#include "precision/stacked_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/fold/formula.h"
#include "onnx/gen/op.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::precision {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

// The number of the matrix that the node picks for products.
std::optional<std::int64_t> picked(const Node* node) {
  if (!node->is(Op::kGather) || node->int_or("axis", 0) != 0 || node->input(1) == nullptr ||
      node->input(1)->constant == nullptr || !node->input(1)->constant->dims.empty() ||
      !node->output()->returns.empty())
    return std::nullopt;
  const bool for_products = std::ranges::all_of(node->output()->uses, [](const onnx::Use& use) {
    return use.node->is(Op::kMatMul) && use.index == 1;
  });
  const auto number = node->input(1)->constant->ints();
  return for_products && number && number->size() == 1 ? std::optional(number->front())
                                                       : std::nullopt;
}

bool is_stack(const ValueInfo* weight, std::int64_t block_size) {
  const Tensor& tensor = *weight->constant;
  return tensor.dims.size() == 3 && tensor.dims[0] > 0 && tensor.dims[1] >= block_size &&
         (tensor.dtype == base::DType::kFloat32 || tensor.dtype == base::DType::kFloat16) &&
         onnx::is_cast_alone(tensor) && tensor.data != nullptr && !weight->is_pinned &&
         weight->returns.empty() && std::ranges::all_of(weight->uses, [](const onnx::Use& use) {
           return use.index == 0 && picked(use.node).has_value();
         });
}

// With how it is had of the stack, for whoever has another one.
Tensor recorded_part(const ValueInfo* weight, std::int64_t number) {
  onnx::Formula formula{"Gather", {{"axis", std::int64_t{0}, {}}}, {}, 1, 0};
  formula.operands = {onnx::without_data(onnx::recorded(*weight)), Tensor::of_int(number)};
  return onnx::computed_by(onnx::part_of_stack(*weight->constant, number),
                           std::make_shared<const onnx::Formula>(std::move(formula)));
}

void part(onnx::Model& model, ValueInfo* weight) {
  const Tensor stack = *weight->constant;
  std::vector<ValueInfo*> parts(static_cast<std::size_t>(stack.dims[0]));
  const std::vector<onnx::Use> uses = weight->uses;
  for (const onnx::Use& use : uses) {
    std::int64_t number = *picked(use.node);
    if (number < 0) number += stack.dims[0];
    if (number < 0 || number >= stack.dims[0]) continue;
    ValueInfo*& one = parts[static_cast<std::size_t>(number)];
    if (one == nullptr) {
      one = model.add_weight(fmt::format("{}.{}", weight->name, number),
                             recorded_part(weight, number));
      one->made_of = {weight};
    }
    onnx::replace_all_uses(use.node->output(), one);
    onnx::erase(use.node);
  }
}

}  // namespace

void part_stacked_weights(onnx::Model& model, std::int64_t block_size) {
  const std::vector<ValueInfo*> weights = model.initializers;
  for (ValueInfo* weight : weights)
    if (weight->constant != nullptr && !weight->uses.empty() && is_stack(weight, block_size))
      part(model, weight);
}

}  // namespace sardonyx::precision

#include "precision/quantized_experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/graph/recipe.h"
#include "precision/weight_reader.h"

namespace sardonyx::precision {
namespace {

using base::DType;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

// Of the CUDA provider's kernels.
constexpr std::int64_t kWidthMultiple = 64;

const Tensor* stack_of(const Node* node, std::size_t index) {
  const ValueInfo* value = node->input(index);
  const bool is_stack = value != nullptr && value->constant != nullptr &&
                        value->producer == nullptr && value->constant->dims.size() == 3 &&
                        value->constant->dtype == DType::kFloat16;
  return is_stack ? value->constant.get() : nullptr;
}

// Whether each of the matrices can be read where it lies.
bool has_readable_parts(const Tensor& stack) {
  const bool is_derived = onnx::derivation_of(stack) != nullptr;
  return is_readable_stack(stack) && (is_derived ? *stack.recipe->source : stack).data != nullptr;
}

struct Parts {
  ValueInfo *codes = nullptr, *scales = nullptr, *zero_points = nullptr;
};

Parts parts_of(onnx::Model& model, ValueInfo* stack, const kernels::BlockForm& form,
               Report& report) {
  const auto coded =
      std::make_shared<const QuantizedWeight>(*stack->constant, Layout::kPackedRows, form);
  const auto add = [&](QuantizedWeight::Part part, std::string_view suffix) {
    ValueInfo* value =
        model.add_weight(fmt::format("{}_{}", stack->name, suffix), coded->part(part));
    value->is_weight = false;
    value->made_of = {stack};
    return value;
  };
  Parts parts;
  parts.codes = add(QuantizedWeight::kCodes, fmt::format("int{}", form.bits));
  parts.scales = add(QuantizedWeight::kScales, "scales");
  if (coded->has_zero_points())
    parts.zero_points = add(QuantizedWeight::kZeroPoints, "zero_points");
  report.weights.push_back({.weight = stack->name,
                            .reader = {},
                            .type = fmt::format("int{}", form.bits),
                            .bytes_before = stack->constant->byte_count(),
                            .bytes_after = coded->bytes(),
                            .measured = {},
                            .made_of = origins(stack),
                            .coded = coded});
  return parts;
}

void set_inputs(Node* node, std::vector<ValueInfo*> inputs) {
  while (inputs.back() == nullptr) inputs.pop_back();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (i < node->inputs.size())
      onnx::set_input(node, i, inputs[i]);
    else
      onnx::add_input(node, inputs[i]);
}

}  // namespace

bool has_experts(const Node* node) {
  return node->op_type == "MoE" && node->domain == "com.microsoft" &&
         std::ranges::all_of(
             kExpertInputs, [node](std::size_t index) { return stack_of(node, index) != nullptr; });
}

std::string obstacle_of_experts(const Node* node, std::int64_t block_size) {
  if (node->inputs.size() > 6 || node->string_or("activation_type", "relu") != "swiglu" ||
      node->int_or("swiglu_fusion", 0) != 1)
    return "its experts are no SwiGLU of columns that alternate";
  if (block_size < 32 || block_size > 128)
    return fmt::format("there are no experts in blocks of {}", block_size);
  for (const std::size_t index : kExpertInputs) {
    const Tensor& stack = *stack_of(node, index);
    const std::int64_t columns = stack.dims[2];
    if (columns % kWidthMultiple != 0 || columns % block_size != 0)
      return fmt::format("rows of {} are no whole blocks of {}", columns,
                         std::max(block_size, kWidthMultiple));
    if (stack.element_count() == 0 || !has_readable_parts(stack))
      return "the weights are not there yet, or computed of others";
  }
  return {};
}

bool names_experts(Pattern& pattern, const Node* node, const ValueInfo* stack) {
  bool is_named = pattern.matches_either(node, stack);
  for (const std::string& origin : origins(stack)) {
    is_named = pattern.matches(origin) || is_named;
    for (std::int64_t i = 0; i < stack->constant->dims[0]; ++i)
      is_named = pattern.matches(fmt::format("{}.{}", origin, i)) || is_named;
  }
  return is_named;
}

void quantize_experts(onnx::Model& model, Node* node, int bits, const WeightOnlyOptions& options,
                      Report& report) {
  const kernels::BlockForm form{.bits = bits,
                                .size = options.block_size,
                                .symmetric = options.symmetric,
                                .search = options.search,
                                .scale = DType::kFloat16};
  const Parts first = parts_of(model, node->input(kExpertInputs[0]), form, report);
  const Parts second = parts_of(model, node->input(kExpertInputs[1]), form, report);
  set_inputs(node, {node->input(0), node->input(1), first.codes, first.scales, node->input(3),
                    second.codes, second.scales, node->input(5), nullptr, nullptr, nullptr,
                    first.zero_points, second.zero_points});
  onnx::set_operator(node, "QMoE", "com.microsoft");
  node->attributes.push_back({"expert_weight_bits", std::int64_t{bits}, {}});
  node->attributes.push_back({"block_size", options.block_size, {}});
  node->attributes.push_back({"weights_prepacked", std::int64_t{0}, {}});
  if (options.accuracy_level != 0)
    node->attributes.push_back({"accuracy_level", options.accuracy_level, {}});
}

}  // namespace sardonyx::precision

#include "onnx/fold/formula.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/fold/fold.h"

namespace sardonyx::onnx {
namespace {

// The weight of the program whose bytes the tensor has; empty where it is not known, or where the
// value is one of those that were seen.
std::string weight_of(const ValueInfo& value, const Tensor& tensor,
                      std::unordered_set<const ValueInfo*>& seen) {
  if (value.constant == nullptr || !seen.insert(&value).second) return {};
  const Tensor own = source_type(*value.constant), wanted = source_type(tensor);
  const bool same =
      value.constant->data == tensor.data && own.dtype == wanted.dtype && own.dims == wanted.dims;
  if (same && has_origin(*value.constant)) {
    const auto* name = std::get_if<Named>(&value.constant->recipe->steps.front());
    return name != nullptr ? name->weight : std::string();
  }
  if (value.made_of.empty()) return same && value.is_weight ? value.name : std::string();
  for (const ValueInfo* each : value.made_of)
    if (std::string name = weight_of(*each, tensor, seen); !name.empty()) return name;
  return {};
}

// What a recipe computes, computed.
std::shared_ptr<const Tensor> materialized(std::shared_ptr<const Tensor> tensor) {
  if (tensor->is_materialized()) return tensor;
  return std::make_shared<const Tensor>(derivation_of(*tensor) != nullptr ? computed(*tensor)
                                                                          : in_memory(*tensor));
}

// The result of the formula's operator on these operands, null where one is omitted.
Tensor result_of(const Formula& formula, const std::vector<std::shared_ptr<const Tensor>>& data) {
  std::vector<ValueInfo> values(data.size() + formula.outputs);
  Node node;
  node.op_type = formula.op_type;
  node.attributes = formula.attributes;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i] != nullptr) {
      values[i].dtype = data[i]->dtype;
      values[i].constant = materialized(data[i]);
    }
    node.inputs.push_back(data[i] != nullptr ? &values[i] : nullptr);
  }
  for (std::size_t i = 0; i < formula.outputs; ++i)
    node.outputs.push_back(&values[data.size() + i]);
  std::vector<Tensor> results = fold(node, Weights::kFold);
  if (formula.output >= results.size())
    base::fail("SX1501", "the operator " + formula.op_type + " cannot be computed of weights");
  Tensor result = std::move(results[formula.output]);
  result.recipe = nullptr;
  return result;
}

}  // namespace

Tensor recorded(const ValueInfo& value) { return recorded(value, *value.constant); }

Tensor recorded(const ValueInfo& value, const Tensor& tensor) {
  if (has_origin(tensor)) return tensor;
  if (value.made_of.empty() && !value.is_weight) return tensor;
  std::unordered_set<const ValueInfo*> seen;
  return named(tensor, weight_of(value, tensor, seen));
}

Tensor of_unknown_origin(const Tensor& tensor) { return named(tensor, {}); }

bool is_unknown(const Tensor& tensor) {
  const auto* name =
      has_origin(tensor) ? std::get_if<Named>(&tensor.recipe->steps.front()) : nullptr;
  return name != nullptr && name->weight.empty();
}

Tensor without_data(Tensor recorded) {
  if (!has_origin(recorded)) return recorded;
  recorded.data = nullptr;
  recorded.owner = nullptr;
  return recorded;
}

std::vector<Tensor> fold_recorded(const Node& node) {
  std::vector<Tensor> results = fold(node, Weights::kFold);
  Formula formula{node.op_type, node.attributes, {}, node.outputs.size(), 0};
  for (const ValueInfo* input : node.inputs)
    formula.operands.push_back(input != nullptr ? std::optional(without_data(recorded(*input)))
                                                : std::nullopt);
  for (std::size_t i = 0; i < results.size(); ++i) {
    formula.output = i;
    results[i].recipe = nullptr;
    results[i] = computed_by(results[i], std::make_shared<const Formula>(formula));
  }
  return results;
}

Tensor computed(const Formula& formula, const std::vector<std::optional<Tensor>>& operands) {
  std::vector<std::shared_ptr<const Tensor>> data;
  for (const std::optional<Tensor>& operand : operands)
    data.push_back(operand ? std::make_shared<const Tensor>(*operand) : nullptr);
  return result_of(formula, data);
}

Tensor computed(std::string op_type, std::vector<Tensor> operands,
                std::vector<Attribute> attributes) {
  Formula formula{std::move(op_type), std::move(attributes), {}, 1, 0};
  std::vector<std::shared_ptr<const Tensor>> data;
  for (Tensor& operand : operands)
    data.push_back(std::make_shared<const Tensor>(std::move(operand)));
  const Tensor result = result_of(formula, data);
  if (std::ranges::none_of(data, [](const auto& operand) { return has_origin(*operand); }))
    return result;
  for (const auto& operand : data) formula.operands.emplace_back(without_data(*operand));
  return computed_by(result, std::make_shared<const Formula>(std::move(formula)));
}

}  // namespace sardonyx::onnx

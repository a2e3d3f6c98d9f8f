#include "onnx/infer/malformed_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/gen/op.h"
#include "onnx/operators/operator.h"

namespace sardonyx::onnx {
namespace {

// The first that is not given; null where all are that this version and the newest both need: some
// files say nothing where an older version had them give what nobody read.
const Formal* lacking(std::span<ValueInfo* const> given, std::span<const Formal> formals,
                      std::size_t needed) {
  for (std::size_t i = 0; i < std::min(needed, formals.size()); ++i) {
    const bool is_given = i < given.size() && given[i] != nullptr;
    if (!is_given && formals[i].option != FormalOption::kOptional) return &formals[i];
  }
  return nullptr;
}

bool is_of(const Attribute::Data& data, AttributeKind kind) {
  const auto holds = [&]<class T>() { return std::holds_alternative<T>(data); };
  switch (kind) {
    case AttributeKind::kInt:
      return holds.operator()<std::int64_t>() || holds.operator()<DType>();
    case AttributeKind::kFloat:
      return holds.operator()<float>();
    case AttributeKind::kString:
      return holds.operator()<std::string>();
    case AttributeKind::kTensor:
      return holds.operator()<std::shared_ptr<const Tensor>>();
    case AttributeKind::kGraph:
      return holds.operator()<Graph*>();
    case AttributeKind::kInts:
      return holds.operator()<std::vector<std::int64_t>>();
    case AttributeKind::kFloats:
      return holds.operator()<std::vector<float>>();
    case AttributeKind::kStrings:
      return holds.operator()<std::vector<std::string>>();
    case AttributeKind::kOther:
      return true;
  }
  return true;
}

// The numbers that an attribute of this name can be. Counts, axes and sizes are of 32 bits; some
// stand for a type, some count or divide, and what is beyond are elements, or stands for an end.
struct Range {
  std::int64_t least, most;
};

Range range_of(std::string_view attribute) {
  constexpr std::string_view kAny[] = {"value_int", "value_ints", "starts", "ends"};
  constexpr std::string_view kTypes[] = {"to", "dtype", "stash_type", "output_datatype"};
  constexpr std::string_view kTypesOrNone[] = {"softmax_precision", "output_dtype"};
  constexpr std::string_view kPositive[] = {"group",     "offset_group", "num_groups",
                                            "blocksize", "hidden_size",  "strides",
                                            "dilations", "kernel_shape", "num_outputs"};
  constexpr std::string_view kCounts[] = {"block_size", "num_heads", "q_num_heads", "kv_num_heads",
                                          "rotary_embedding_dim"};
  const auto is_among = [&](std::span<const std::string_view> names) {
    return std::ranges::find(names, attribute) != names.end();
  };
  using Wide = std::numeric_limits<std::int64_t>;
  using Narrow = std::numeric_limits<std::int32_t>;
  const auto last_type = static_cast<std::int64_t>(base::kLastDType);
  if (is_among(kAny)) return {Wide::min(), Wide::max()};
  if (is_among(kTypes)) return {1, last_type};
  if (is_among(kTypesOrNone)) return {0, last_type};
  if (is_among(kPositive)) return {1, Narrow::max()};
  if (is_among(kCounts)) return {0, Narrow::max()};
  return {Narrow::min(), Narrow::max()};
}

bool is_in_range(const Attribute& attribute) {
  const Range range = range_of(attribute.name);
  const auto fits = [&](std::int64_t number) {
    return range.least <= number && number <= range.most;
  };
  if (const auto* type = std::get_if<DType>(&attribute.data))
    return fits(static_cast<std::int64_t>(*type));
  if (const auto* number = std::get_if<std::int64_t>(&attribute.data)) return fits(*number);
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&attribute.data);
  return numbers == nullptr || std::ranges::all_of(*numbers, fits);
}

// The element that ConstantOfShape repeats can be read, where it is given.
bool has_element(const Node* node) {
  const Attribute* value = node->find("value");
  const auto* tensor =
      value == nullptr ? nullptr : std::get_if<std::shared_ptr<const Tensor>>(&value->data);
  return tensor == nullptr || ((*tensor)->element_count() == 1 && (*tensor)->reals());
}

// As fault_of(), of attributes that no function gives.
std::string fault_of_attributes(const Node* node, const OperatorVersion& version) {
  for (const AttributeFormal& formal : version.attributes) {
    const Attribute* given = node->find(formal.name);
    if (given == nullptr) {
      if (formal.required)
        return fmt::format("it lacks the attribute '{}', which its operator needs", formal.name);
    } else if (given->reference.empty()) {
      if (!is_of(given->data, formal.kind))
        return fmt::format("its attribute '{}' is of another kind than its operator has",
                           formal.name);
      if (!is_in_range(*given))
        return fmt::format("its attribute '{}' is a number that it cannot be", formal.name);
    }
  }
  return node->is(Op::kConstantOfShape) && !has_element(node) ? "its 'value' is not one number"
                                                              : std::string();
}

// Why the node is none of its operator's; empty where it is one.
std::string fault_of(const Node* node, std::int64_t opset) {
  const Operator& op = operator_of(node->op);
  const OperatorVersion* version = op.at(opset);
  const OperatorVersion& newest = op.versions.back();
  if (version == nullptr) version = &newest;
  const Formal* missing =
      lacking(node->inputs, version->inputs, std::min(version->min_inputs, newest.min_inputs));
  if (missing == nullptr)
    missing = lacking(node->outputs, version->outputs,
                      std::min(version->min_outputs, newest.min_outputs));
  if (missing != nullptr)
    return fmt::format("it lacks '{}', which its operator needs", missing->name);
  if (node->inputs.size() > std::max(version->max_inputs, newest.max_inputs))
    return fmt::format("it has {} inputs, more than its operator takes", node->inputs.size());
  if (node->outputs.size() > std::max(version->max_outputs, newest.max_outputs))
    return fmt::format("it has {} outputs, more than its operator gives", node->outputs.size());
  return fault_of_attributes(node, *version);
}

void visit(Graph* graph, std::int64_t opset, std::vector<TypeConflict>& found) {
  for (Node* node = graph->first; node != nullptr; node = node->next) {
    for (Graph* body : bodies(node)) visit(body, opset, found);
    if (node->op == kUnknownOp) continue;
    std::string fault = fault_of(node, opset);
    if (fault.empty()) continue;
    node->op = kUnknownOp;
    found.push_back({node->name.empty() ? node->op_type : node->name, std::move(fault)});
  }
}

}  // namespace

std::vector<TypeConflict> set_incomplete_aside(Model& model) {
  std::vector<TypeConflict> found;
  visit(model.graph, opset_of(model.graph), found);
  for (const Function& function : model.functions)
    if (function.body != nullptr) visit(function.body, opset_of(function.body), found);
  return found;
}

}  // namespace sardonyx::onnx

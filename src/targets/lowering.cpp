#include "targets/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "onnx/definitions/definitions.h"
#include "onnx/emit/emit_state.h"
#include "targets/forms/older_forms.h"

namespace sardonyx::targets {

using onnx::Operator;
using onnx::OperatorVersion;

const Attribute* Use::attribute(std::string_view name) const {
  return onnx::find_attribute(attributes, name);
}

std::int64_t Use::integer(std::string_view name, std::int64_t otherwise) const {
  return onnx::int_attribute(attributes, name, otherwise);
}

float Use::real(std::string_view name, float otherwise) const {
  const Attribute* found = attribute(name);
  return found == nullptr ? otherwise : std::get<float>(found->data);
}

std::string_view Use::text(std::string_view name, std::string_view otherwise) const {
  const Attribute* found = attribute(name);
  return found == nullptr ? otherwise : std::get<std::string>(found->data);
}

const std::vector<std::int64_t>* Use::integers(std::string_view name) const {
  return onnx::ints_attribute(attributes, name);
}

std::optional<Values> by_definition(const Use& use, const Rule&) {
  return onnx::spelled_out({use.onnx, use.inputs, use.attributes, use.outputs}, use.op);
}

Lowering::Lowering(onnx::Model& model, const Target& target, const LowerOptions& options)
    : Emit(model, options.opset, {.opset = options.opset}), target_(target), options_(options) {}

const Rule* Lowering::rule_for(const Use& use, const Rule* after) const {
  bool passed = after == nullptr;
  for (const Rule* rule : target_.rules_of(use.op.id)) {
    if (!passed) {
      passed = rule == after;
      continue;
    }
    if (opset() < rule->first || opset() > rule->last) continue;
    if (rule->types != 0 && (rule->types & onnx::dtype_bit(use.dtype())) == 0) continue;
    if (rule->when == nullptr || rule->when(use)) return rule;
  }
  return nullptr;
}

Values Lowering::by_rules(const Use& use, const Rule* after) {
  for (const Rule* rule = rule_for(use, after); rule != nullptr; rule = rule_for(use, rule))
    if (auto values = rule->how(use, *rule)) return *std::move(values);
  return emitted(use.op, {use.inputs.begin(), use.inputs.end()},
                 {use.attributes.begin(), use.attributes.end()}, use.outputs);
}

namespace {

// Whether the version has every input, attribute and type of this use; an attribute that it has not
// may say what it does anyway.
bool fits(const Operator& op, const OperatorVersion& version, std::span<const Value> inputs,
          std::span<const Attribute> attributes) {
  if (inputs.size() > version.max_inputs) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const onnx::Formal* formal = version.input(i);
    if (formal == nullptr || !inputs[i] || inputs[i].dtype() == DType::kUndefined) continue;
    if (inputs[i]->type_kind == onnx::TypeKind::kTensor && formal->dtypes != 0 &&
        (formal->dtypes & onnx::dtype_bit(inputs[i].dtype())) == 0)
      return false;
  }
  return std::ranges::all_of(attributes, [&](const Attribute& attribute) {
    const onnx::AttributeFormal* newest = op.versions.back().attribute(attribute.name);
    return version.attribute(attribute.name) != nullptr ||
           (newest != nullptr && onnx::is_default(*newest, attribute.data));
  });
}

}  // namespace

// A node that was set aside (onnx/infer/incomplete.h) is written as it is, where the opset has its
// operator at all.
bool Lowering::has_name(const onnx::Node* node) const {
  const Operator* named = node->domain.empty() ? onnx::find_operator(node->op_type) : nullptr;
  return named == nullptr || named->at(opset()) != nullptr;
}

bool Lowering::says(const onnx::Node* node) const {
  if (node->op == onnx::kUnknownOp) return has_name(node);
  const Operator& op = onnx::operator_of(node->op);
  const OperatorVersion* version = op.at(opset());
  const Values inputs(node->inputs.begin(), node->inputs.end());
  return version != nullptr && fits(op, *version, inputs, node->attributes);
}

bool Lowering::takes(const onnx::Node* node) {
  if (node->op == onnx::kUnknownOp) return has_name(node);
  const Operator& op = onnx::operator_of(node->op);
  const OperatorVersion* version = op.at(opset());
  if (version == nullptr || changes_form(op, opset())) return false;
  if (node->inputs.size() > version->max_inputs) return false;
  for (const Attribute& attribute : node->attributes)
    if (version->attribute(attribute.name) == nullptr) return false;
  const Values inputs(node->inputs.begin(), node->inputs.end());
  const Use use{*this, op, inputs, node->attributes, node->outputs.size(), node};
  return rule_for(use, nullptr) == nullptr && has_kernel(op, *version, inputs, node->attributes);
}

Values Lowering::lowered(const onnx::Node* node, std::span<const Value> inputs) {
  if (node->op == onnx::kUnknownOp)
    base::fail("SX1504", fmt::format("opset {} has no {}, and this node is none of that operator, "
                                     "so that it cannot be spelt out",
                                     opset(), node->op_type));
  return by_rules(
      {*this, onnx::operator_of(node->op), inputs, node->attributes, node->outputs.size(), node},
      nullptr);
}

Values Lowering::without(const Rule& rule, const Use& use, std::span<const Value> inputs,
                         std::vector<Attribute> attributes) {
  return by_rules({*this, use.op, inputs, attributes, use.outputs, use.node}, &rule);
}

Values Lowering::without(const Rule& rule, const Use& use) { return by_rules(use, &rule); }

Values Lowering::build(const Operator& op, std::span<const Value> given,
                       std::vector<Attribute> attributes, std::size_t outputs) {
  while (!given.empty() && !given.back()) given = given.first(given.size() - 1);
  return by_rules({*this, op, given, attributes, outputs}, nullptr);
}

Values Lowering::emitted(const Operator& op, Values inputs, std::vector<Attribute> attributes,
                         std::size_t outputs) {
  if (auto values = in_older_form(*this, op, inputs, attributes, outputs)) return *values;
  if (const OperatorVersion* there = op.at(opset());
      there != nullptr && !fits(op, *there, inputs, attributes))
    if (auto values = onnx::spelled_out({*this, inputs, attributes, outputs}, op)) return *values;
  const OperatorVersion& version = checked(op, inputs, attributes);
  if (auto values = without_node(op, inputs, attributes, outputs)) return *values;
  if (auto values = with_output_type(op, version, inputs, attributes)) return *values;
  if (auto values = with_kernel_types(op, version, inputs, attributes, outputs)) return *values;
  return emit_node(op, inputs, std::move(attributes), outputs);
}

}  // namespace sardonyx::targets

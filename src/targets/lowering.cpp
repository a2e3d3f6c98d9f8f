#include "targets/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "onnx/definitions/definitions.h"
#include "onnx/emit/emit_state.h"
#include "onnx/emit/type_substitutes.h"
#include "targets/opsets/downgrade.h"
#include "targets/opsets/sequence_map.h"

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
    if (!target_.has_rule(*rule, opset())) continue;
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

// What a value of TypeKind::kOther is on the outside: its type is carried as a TypeProto, whose
// first byte is the tag of a field (`sequence_type` or `optional_type`).
onnx::TypeKind outer_kind(const onnx::ValueInfo& value) {
  constexpr char kSequenceTag = 4 << 3 | 2, kOptionalTag = 9 << 3 | 2;
  if (value.type_kind != onnx::TypeKind::kOther || !value.carried || value.carried->type.empty())
    return value.type_kind;
  const char tag = value.carried->type.front();
  return tag == kSequenceTag   ? onnx::TypeKind::kSequence
         : tag == kOptionalTag ? onnx::TypeKind::kOptional
                               : onnx::TypeKind::kOther;
}

// Whether the formal has the type, as far as either is known.
bool has_type(const onnx::Formal* formal, const onnx::ValueInfo* value) {
  if (formal == nullptr || formal->dtypes == 0 || value == nullptr) return true;
  const auto has = [&](onnx::DTypeSet bits) { return (formal->dtypes & bits) != 0; };
  switch (outer_kind(*value)) {
    case onnx::TypeKind::kTensor:
      break;
    case onnx::TypeKind::kSequence:
      if (!has(onnx::kSequenceBit)) return false;
      break;
    case onnx::TypeKind::kOptional:
      if (!has(onnx::kOptionalBit)) return false;
      break;
    case onnx::TypeKind::kOther:
      return true;
  }
  return value->dtype == DType::kUndefined || has(onnx::dtype_bit(value->dtype));
}

// The first output whose type the version does not give; null where there is none.
template <class Outputs>
const onnx::ValueInfo* not_given(const OperatorVersion& version, const Outputs& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const onnx::ValueInfo* output = outputs[i];
    if (!has_type(version.output(i), output)) return output;
  }
  return nullptr;
}

std::string type_of(const onnx::ValueInfo& value) {
  const std::string_view dtype = base::dtype_name(value.dtype);
  if (value.type_kind == onnx::TypeKind::kTensor) return std::string(dtype);
  const bool is_sequence = outer_kind(value) == onnx::TypeKind::kSequence;
  const bool is_nested = value.type_kind == onnx::TypeKind::kOther;
  return fmt::format("{} of {}", is_sequence ? "sequence" : "optional",
                     is_nested ? "what is no tensor" : dtype);
}

// Throws for a value whose type the operator takes or gives in later versions alone.
template <class Has>
[[noreturn]] void refuse_type(const Operator& op, const onnx::ValueInfo& value,
                              std::string_view verb, std::int64_t opset, Has has) {
  const std::string message =
      fmt::format("in opset {} {} {} no {}", opset, op.name, verb, type_of(value));
  for (const OperatorVersion& version : op.versions)
    if (version.since > opset && has(version))
      base::fail_before_opset(version.since, "SX1504", message);
  base::fail("SX1504", message);
}

// Throws for an input whose type later versions alone take; of one that none takes, inference says
// so.
void check_taken(const Operator& op, const OperatorVersion& version, const Values& inputs,
                 std::int64_t opset) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const onnx::ValueInfo* input = inputs[i].info();
    if (input == nullptr || has_type(version.input(i), input)) continue;
    const auto takes = [&](const OperatorVersion& later) {
      return has_type(later.input(i), input);
    };
    if (std::ranges::any_of(op.versions, takes)) refuse_type(op, *input, "takes", opset, takes);
  }
}

// Whether the version has every input, attribute and type of this use; an attribute that it has not
// may say what it does anyway.
bool fits(const Operator& op, const OperatorVersion& version, std::span<const Value> inputs,
          std::span<const Attribute> attributes) {
  if (inputs.size() > version.max_inputs) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!has_type(version.input(i), inputs[i].info())) return false;
  }
  return std::ranges::all_of(attributes, [&](const Attribute& attribute) {
    const onnx::AttributeFormal* newest = op.versions.back().attribute(attribute.name);
    return version.attribute(attribute.name) != nullptr ||
           (newest != nullptr && onnx::is_default(*newest, attribute.data));
  });
}

}  // namespace

// A node that was set aside (onnx/infer/malformed_nodes.h) is written as it is, where the opset has
// its operator at all.
bool Lowering::has_name(const onnx::Node* node) const {
  const Operator* named = node->domain.empty() ? onnx::find_operator(node->op_type) : nullptr;
  return named == nullptr || named->at(opset()) != nullptr;
}

bool Lowering::says(const onnx::Node* node) const {
  if (node->op == onnx::kUnknownOp) return has_name(node);
  const Operator& op = onnx::operator_of(node->op);
  const OperatorVersion* version = op.at(opset());
  const Values inputs(node->inputs.begin(), node->inputs.end());
  return version != nullptr && !changes_form(op, opset()) &&
         fits(op, *version, inputs, node->attributes) &&
         not_given(*version, node->outputs) == nullptr;
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
  if (!fits(op, *version, inputs, node->attributes) ||
      not_given(*version, node->outputs) != nullptr)
    return false;
  const Use use{*this, op, inputs, node->attributes, node->outputs.size(), node};
  return rule_for(use, nullptr) == nullptr && has_kernel(op, *version, inputs, node->attributes);
}

Values Lowering::lowered(const onnx::Node* node, std::span<const Value> inputs) {
  if (node->op == onnx::kUnknownOp)
    base::fail("SX1504", fmt::format("opset {} has no {}, and this node is none of that operator, "
                                     "so that it cannot be decomposed",
                                     opset(), node->op_type));
  const Operator& op = onnx::operator_of(node->op);
  // What comes out of a body has its type there: no cast changes it.
  if (const OperatorVersion* version = op.at(opset());
      version != nullptr && !onnx::bodies(node).empty())
    if (const onnx::ValueInfo* output = not_given(*version, node->outputs))
      refuse_type(op, *output, "gives", opset(), [&](const OperatorVersion& later) {
        return not_given(later, node->outputs) == nullptr;
      });
  if (node->is(Op::kSequenceMap) && op.at(opset()) == nullptr)
    if (auto values = loop_over_sequences(*this, node, inputs)) return *std::move(values);
  return by_rules({*this, op, inputs, node->attributes, node->outputs.size(), node}, nullptr);
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

// Inputs that have one type in this version, whatever the others have: exact casts stand in.
void Lowering::cast_to_fixed_types(const Operator& op, const OperatorVersion& version,
                                   Values& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const onnx::Formal* formal = version.input(i);
    if (!inputs[i] || has_type(formal, inputs[i].info())) continue;
    const bool is_tensor = inputs[i]->type_kind == onnx::TypeKind::kTensor;
    if (is_tensor && !formal->type_parameter.empty()) continue;  // a matter of kernels
    const auto taken = [&](DType dtype) {
      return (formal->dtypes & onnx::dtype_bit(dtype)) != 0 &&
             !onnx::lossy(inputs[i].dtype(), dtype);
    };
    const std::span<const DType> choices =
        is_tensor ? onnx::stand_ins(inputs[i].dtype()) : std::span<const DType>();
    const auto choice = std::ranges::find_if(choices, taken);
    if (choice == choices.end())
      refuse_type(op, *inputs[i].info(), "takes", opset(), [&](const OperatorVersion& later) {
        return has_type(later.input(i), inputs[i].info());
      });
    inputs[i] = cast(inputs[i], *choice);
  }
}

Values Lowering::emitted(const Operator& op, Values inputs, std::vector<Attribute> attributes,
                         std::size_t outputs) {
  if (auto values = in_older_form(*this, op, inputs, attributes, outputs)) return *values;
  if (const OperatorVersion* there = op.at(opset());
      there != nullptr && !fits(op, *there, inputs, attributes))
    if (auto values = onnx::spelled_out({*this, inputs, attributes, outputs}, op)) return *values;
  const OperatorVersion& version = checked(op, inputs, attributes);
  cast_to_fixed_types(op, version, inputs);
  if (auto values = without_node(op, inputs, attributes, outputs)) return *values;
  if (auto values = with_output_type(op, version, inputs, attributes)) return *values;
  if (auto values = with_kernel_types(op, version, inputs, attributes, outputs)) return *values;
  check_taken(op, version, inputs, opset());
  Values values = emit_node(op, inputs, std::move(attributes), outputs);
  std::vector<const onnx::ValueInfo*> given;
  for (const Value value : values) given.push_back(value.info());
  if (const onnx::ValueInfo* output = not_given(version, given))
    refuse_type(op, *output, "gives", opset(),
                [&](const OperatorVersion& later) { return not_given(later, given) == nullptr; });
  return values;
}

}  // namespace sardonyx::targets

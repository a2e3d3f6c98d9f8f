// The way of a node: checks, identities, folding, sharing of equal nodes, inference.
#include "onnx/emit/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/diagnostic.h"
#include "onnx/emit/emit_state.h"
#include "onnx/emit/opset_upgrade.h"
#include "onnx/emit/sharing.h"
#include "onnx/emit/type_substitutes.h"
#include "onnx/fold/fold.h"
#include "onnx/gen/op.h"
#include "onnx/infer/infer.h"
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {

bool is_default(const AttributeFormal& formal, const Attribute::Data& data) {
  if (!formal.has_default) return false;
  if (const auto* number = std::get_if<std::int64_t>(&data))
    return formal.kind == AttributeKind::kInt && *number == formal.default_int;
  if (const auto* dtype = std::get_if<DType>(&data))
    return formal.kind == AttributeKind::kInt && static_cast<int>(*dtype) == formal.default_int;
  if (const auto* real = std::get_if<float>(&data))
    return formal.kind == AttributeKind::kFloat && *real == formal.default_float;
  if (const auto* text = std::get_if<std::string>(&data))
    return formal.kind == AttributeKind::kString && *text == formal.default_string;
  return false;
}

namespace {

[[noreturn]] void lacks(std::int64_t opset, const std::string& what, int since) {
  std::string message = fmt::format("opset {} has no {}", opset, what);
  if (since > opset) base::fail_before_opset(since, "SX1504", std::move(message));
  base::fail("SX1504", std::move(message));
}

const OperatorVersion& version_at(const Operator& op, std::int64_t opset) {
  const OperatorVersion* version = op.at(opset);
  if (version == nullptr)
    lacks(opset, fmt::format("operator {}", op.name), op.versions.front().since);
  if (version->deprecated)
    base::fail("SX1504", fmt::format("operator {} is deprecated at opset {}", op.name, opset));
  return *version;
}

int first_with_inputs(const Operator& op, std::size_t count) {
  for (const OperatorVersion& version : op.versions)
    if (version.max_inputs >= count) return version.since;
  return 0;
}

void check_inputs(const Operator& op, const OperatorVersion& version, std::int64_t opset,
                  std::span<const Value> inputs) {
  if (inputs.size() > version.max_inputs)
    lacks(opset, fmt::format("input {} of {}", inputs.size() - 1, op.name),
          first_with_inputs(op, inputs.size()));
  for (std::size_t i = 0; i < std::max<std::size_t>(inputs.size(), version.min_inputs); ++i) {
    const Formal* formal = version.input(i);
    if (formal == nullptr || formal->option != FormalOption::kRequired) continue;
    if (i >= inputs.size() || !inputs[i])
      base::fail("SX1503", fmt::format("{} needs its input `{}`", op.name, formal->name));
  }
}

void check_outputs(const Operator& op, std::size_t outputs) {
  const bool some_version_gives = std::ranges::any_of(
      op.versions, [&](const OperatorVersion& version) { return outputs <= version.max_outputs; });
  if (outputs == 0 || !some_version_gives)
    base::fail("SX1503", fmt::format("{} gives no {} outputs", op.name, outputs));
}

// Checks the attributes against the version and drops those that say what is the default.
void check_attributes(const Operator& op, const OperatorVersion& version, std::int64_t opset,
                      std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) {
    if (version.attribute(attribute.name) != nullptr) continue;
    int since = 0;
    const AttributeFormal* formal = nullptr;
    for (const OperatorVersion& other : op.versions) {
      formal = other.attribute(attribute.name);
      if (formal != nullptr && other.since > opset) since = since == 0 ? other.since : since;
      if (since > 0) break;
    }
    if (formal != nullptr && is_default(*formal, attribute.data)) continue;
    lacks(opset, fmt::format("attribute {} of {}", attribute.name, op.name), since);
  }
  std::erase_if(attributes, [&](const Attribute& attribute) {
    const AttributeFormal* formal = version.attribute(attribute.name);
    return formal == nullptr || is_default(*formal, attribute.data);
  });
  for (const AttributeFormal& formal : version.attributes)
    if (formal.required && find_attribute(attributes, formal.name) == nullptr)
      base::fail("SX1503", fmt::format("{} needs its attribute `{}`", op.name, formal.name));
}

// Whether it is a constant or made by ConstantOfShape.
bool is_filled(const ValueInfo* value) {
  return value->constant != nullptr ||
         (value->producer != nullptr && value->producer->is(Op::kConstantOfShape));
}

// The shape of the node's only output where it has no element, so that there is nothing to compute.
std::optional<Shape> shape_of_nothing(const Emit& onnx, const Operator& op, const Node& node) {
  if (node.outputs.size() != 1 || op.id == Op::kConstantOfShape || op.id == Op::kIdentity)
    return std::nullopt;
  const ValueInfo& output = *node.outputs[0];
  const bool plain = output.type_kind == TypeKind::kTensor && output.has_rank &&
                     output.dtype != DType::kUndefined && output.dtype != DType::kString;
  if (!plain || !bodies(&node).empty()) return std::nullopt;
  if (std::ranges::none_of(output.shape, [](Expr dim) { return dim.is(0); })) return std::nullopt;
  // Sizes may have to be read of the very tensor that a Cast makes readable; and one of nothing may
  // be there because ConstantOfShape has no kernel for the type.
  const bool is_cast = op.id == Op::kCast;
  if (is_cast && is_filled(node.inputs[0])) return std::nullopt;
  for (const Expr dim : output.shape)
    if (!dim.known() || (is_cast && !dim.is_constant()) || !onnx.can_size(dim)) return std::nullopt;
  return output.shape;
}

// The constant that the node's only output is, where inference found every element.
std::optional<Tensor> known_elements(const Node& node) {
  if (node.outputs.size() != 1) return std::nullopt;
  const ValueInfo& output = *node.outputs[0];
  if (output.contents.empty() || !output.has_rank || output.shape.size() > 1) return std::nullopt;
  std::vector<std::int64_t> elements;
  for (const Expr element : output.contents) {
    if (!element.is_constant()) return std::nullopt;
    elements.push_back(element.value());
  }
  if (output.dtype != DType::kInt64) return std::nullopt;
  std::vector<std::int64_t> dims;
  if (output.shape.size() == 1) dims.push_back(static_cast<std::int64_t>(elements.size()));
  return Tensor::of_ints(elements, std::move(dims));
}

}  // namespace

Emit::Emit(Model& model, EmitOptions options) : Emit(model, newest_opset(), std::move(options)) {
  model_.opsets[""] = dialect_;
  model_.ir_version = ir_version_of(dialect_);
}

Emit::Emit(Model& model, std::int64_t dialect, EmitOptions options)
    : model_(model),
      dialect_(dialect),
      options_(std::move(options)),
      state_(std::make_unique<State>()) {
  state_->scopes.emplace_back().graph = model_.graph;
}

Emit::~Emit() = default;

Graph* Emit::graph() const { return state_->scopes.back().graph; }

void Emit::set_origin(const Origin* origin, std::string_view name) {
  state_->origin = origin;
  state_->name = name;
}

void Emit::set_type(Value value, DType dtype, const Shape& shape) {
  value->dtype = dtype;
  value->has_rank = true;
  value->shape = shape;
}

const OperatorVersion& Emit::checked(const Operator& op, std::span<const Value> inputs,
                                     std::vector<Attribute>& attributes) const {
  const OperatorVersion& version = version_at(op, dialect_);
  check_inputs(op, version, dialect_, inputs);
  check_attributes(op, version, dialect_, attributes);
  return version;
}

std::optional<Values> Emit::without_node(const Operator& op, std::span<const Value> inputs,
                                         const std::vector<Attribute>& attributes,
                                         std::size_t outputs) {
  if (outputs == 1)
    if (const Value same = simplified(op, inputs, attributes)) return Values{same};
  Node tentative;
  tentative.op_type = op.name;
  for (const Value input : inputs) tentative.inputs.push_back(input.info());
  tentative.attributes = attributes;
  std::vector<Tensor> folded = fold(tentative);
  if (folded.empty()) return std::nullopt;
  Values constants;
  for (Tensor& tensor : folded) constants.push_back(constant(std::move(tensor)));
  return constants;
}

Values Emit::build(const Operator& op, std::span<const Value> given,
                   std::vector<Attribute> attributes, std::size_t outputs) {
  Values inputs(given.begin(), given.end());
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  const OperatorVersion& version = checked(op, inputs, attributes);
  if (auto values = without_node(op, inputs, attributes, outputs)) return *values;
  if (auto values = in_taken_types(op, version, inputs, attributes, outputs)) return *values;
  return emit_node(op, inputs, std::move(attributes), outputs);
}

std::optional<Values> Emit::in_taken_types(const Operator& op, const OperatorVersion& version,
                                           std::span<const Value> inputs,
                                           const std::vector<Attribute>& attributes,
                                           std::size_t outputs) {
  Bindings bindings = bind(version, inputs);
  const auto distance = fit(op.id, bindings, [](const Binding& b) { return b.allowed; });
  if (!distance || *distance == 0) return std::nullopt;
  for (const Binding& binding : bindings.all())
    if (lossy(binding.dtype, binding.computed)) return std::nullopt;
  Values values = build(op, computed_inputs(*this, version, inputs, bindings), attributes, outputs);
  cast_back(*this, version, values, bindings);
  return values;
}

Values Emit::emit_node(const Operator& op, std::span<const Value> inputs,
                       std::vector<Attribute> attributes, std::size_t outputs) {
  std::string key = sharing_key(op, inputs, attributes, outputs);
  if (!key.empty())
    if (const Values* shared = state_->find_node(key)) return *shared;

  Node* node = model_.add_node(std::string(op.name), {});
  node->origin = state_->origin;
  node->attributes = std::move(attributes);
  for (const Value input : inputs) node->inputs.push_back(input.info());
  Values values;
  const std::string name =
      state_->name.empty() ? std::string(op.name) : fmt::format("{}_{}", state_->name, op.name);
  for (std::size_t i = 0; i < outputs; ++i) {
    ValueInfo* output = model_.add_value(name);
    add_output(node, output);
    values.emplace_back(output);
  }
  // Uses are entered only when inference has accepted the node.
  infer(node, pool(), dialect_);
  if (auto elements = known_elements(*node)) return {constant(std::move(*elements))};
  if (const auto shape = shape_of_nothing(*this, op, *node)) {
    const DType dtype = values.front().dtype();
    discard(node);
    return {full(*shape, zero(dtype))};
  }
  model_.name_node(node, "node_" + values.front()->name);
  enter_uses(node);
  append(graph(), node);
  for (const Value value : values) state_->add_compound_dims(value);
  if (!key.empty()) state_->scope().nodes.emplace(std::move(key), values);
  return values;
}

Values Emit::node(std::string_view domain, std::string_view op_type, std::span<const Value> inputs,
                  std::vector<Attribute> attributes, std::size_t outputs) {
  if (domain.empty() || domain == "ai.onnx") {
    const Operator* op = find_operator(op_type);
    if (op == nullptr) base::fail("SX1503", fmt::format("there is no operator {}", op_type));
    check_outputs(*op, outputs);
    Values given(inputs.begin(), inputs.end());
    if (options_.opset < dialect_)
      if (auto values = in_newest_form(*this, *op, options_.opset, given, attributes, outputs))
        return *values;
    return build(*op, given, std::move(attributes), outputs);
  }
  Node* node = model_.add_node(std::string(op_type), std::string(domain));
  node->origin = state_->origin;
  node->attributes = std::move(attributes);
  for (const Value input : inputs) add_input(node, input.info());
  append(graph(), node);
  Values values;
  for (std::size_t i = 0; i < outputs; ++i) {
    ValueInfo* output = model_.add_value(
        state_->name.empty() ? std::string(op_type) : fmt::format("{}_{}", state_->name, op_type));
    add_output(node, output);
    values.emplace_back(output);
  }
  model_.name_node(node, "node_" + (values.empty() ? node->op_type : values[0]->name));
  use_domain(domain);
  return values;
}

void Emit::use_domain(std::string_view domain, std::optional<std::int64_t> version) {
  if (domain.empty() || domain == "ai.onnx") return;
  const std::string name(domain);
  if (const auto wanted = options_.domain_versions.find(name);
      wanted != options_.domain_versions.end())
    version = wanted->second;
  const auto [imported, fresh] = model_.opsets.try_emplace(name, version.value_or(1));
  if (!version) return;
  const auto [said, first] = state_->versions.try_emplace(name, *version);
  if (said->second != *version)
    base::fail("SX1506",
               fmt::format("operators of the domain {} are asked for at versions {} and {}", name,
                           said->second, *version),
               "a model imports one version of a domain; custom_opsets can say which");
  imported->second = *version;
}

// --- constants

Value Emit::constant(Tensor tensor) { return model_.add_constant(std::move(tensor)); }

Value Emit::ints(std::span<const std::int64_t> values) {
  return constant(Tensor::of_ints(values, {static_cast<std::int64_t>(values.size())}));
}

Value Emit::ints(std::initializer_list<std::int64_t> values) {
  return ints(std::span(values.begin(), values.size()));
}

Value Emit::int_scalar(std::int64_t value) { return constant(Tensor::of_int(value)); }

Value Emit::scalar(double value, DType dtype) { return constant(Tensor::filled(dtype, {}, value)); }

Value Emit::int_scalar(std::int64_t value, DType dtype) {
  return constant(Tensor::filled_int(dtype, {}, value));
}

Value Emit::bool_scalar(bool value) {
  return constant(Tensor::filled_int(DType::kBool, {}, value ? 1 : 0));
}

// --- graphs that are there

void Emit::enter(Graph* body, std::vector<Expr> symbols) {
  Scope& scope = state_->scopes.emplace_back();
  scope.graph = body;
  scope.rebound = std::move(symbols);
}

void Emit::leave() { state_->scopes.pop_back(); }

void Emit::adopt(const Node* node) {
  for (ValueInfo* output : node->outputs) {
    if (output == nullptr || !output->has_rank) continue;
    state_->add_compound_dims(output);
    for (std::size_t axis = 0; axis < output->shape.size(); ++axis) {
      const Expr dim = output->shape[axis];
      if (dim.known() && dim.is_symbol() && !can_size(dim))
        add_size_source(output, static_cast<std::int64_t>(axis), dim);
    }
    if (output->contents.size() == 1 && output->contents[0].is_symbol() &&
        !can_size(output->contents[0]))
      add_size_source(output, output->contents[0]);
  }
  if (node->op == kUnknownOp) return;
  Values inputs, outputs;
  for (ValueInfo* input : node->inputs) inputs.emplace_back(input);
  for (ValueInfo* output : node->outputs) {
    if (output == nullptr) return;
    outputs.emplace_back(output);
  }
  const Operator& op = operator_of(node->op);
  if (std::string key = sharing_key(op, inputs, node->attributes, outputs.size()); !key.empty())
    state_->scope().nodes.try_emplace(std::move(key), std::move(outputs));
}

// --- bodies

Graph* Emit::begin_body(std::string name) {
  Graph* body = model_.add_graph(model_.unique_name(name), graph());
  state_->scopes.emplace_back().graph = body;
  return body;
}

Value Emit::body_input(std::string name, DType dtype, const Shape& shape) {
  ValueInfo* input = model_.add_input(graph(), std::move(name));
  set_type(input, dtype, shape);
  return input;
}

void Emit::end_body(std::span<const Value> outputs) {
  std::vector<ValueInfo*> results;
  for (const Value output : outputs) {
    // A body hands out what its own nodes make, each once; anything else goes through Identity.
    const bool own = output->producer != nullptr && output->producer->graph == graph();
    const bool again = std::ranges::find(results, output.info()) != results.end();
    results.push_back((own && !again ? output : identity(output)).info());
  }
  set_outputs(graph(), std::move(results));
  state_->scopes.pop_back();
}

Values Emit::if_(Value condition, Graph* then_branch, Graph* else_branch) {
  std::vector<Attribute> attributes;
  attributes.push_back({"else_branch", else_branch, {}});
  attributes.push_back({"then_branch", then_branch, {}});
  return build(operator_of(Op::kIf), {&condition, 1}, std::move(attributes),
               then_branch->outputs.size());
}

Values Emit::loop(Value trip_count, Value condition, std::span<const Value> carried, Graph* body) {
  std::vector<Attribute> attributes;
  attributes.push_back({"body", body, {}});
  Values inputs{trip_count, condition};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  return build(operator_of(Op::kLoop), inputs, std::move(attributes), body->outputs.size() - 1);
}

Values Emit::scan(std::span<const Value> states, std::span<const Value> sequences, Graph* body) {
  std::vector<Attribute> attributes;
  attributes.push_back({"body", body, {}});
  attributes.push_back({"num_scan_inputs", static_cast<std::int64_t>(sequences.size()), {}});
  Values inputs(states.begin(), states.end());
  inputs.insert(inputs.end(), sequences.begin(), sequences.end());
  return build(operator_of(Op::kScan), inputs, std::move(attributes), body->outputs.size());
}

}  // namespace sardonyx::onnx

#include "rewriting/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/infer/infer.h"
#include "onnx/operators/operator.h"
#include "rewriting/rewrite.h"

namespace sardonyx::rewriting {

using onnx::Node;
using onnx::ValueInfo;

namespace {

// In what two types of one value contradict each other; empty where they may be the same.
std::string contradiction(const ValueInfo& known, const ValueInfo& found) {
  if (known.type_kind != found.type_kind) return "one is a tensor and the other is none";
  if (known.dtype != found.dtype && known.dtype != onnx::DType::kUndefined &&
      found.dtype != onnx::DType::kUndefined)
    return fmt::format("{} would be {}", base::dtype_name(known.dtype),
                       base::dtype_name(found.dtype));
  if (!known.has_rank || !found.has_rank) return {};
  if (known.shape.size() != found.shape.size())
    return fmt::format("rank {} would be {}", known.shape.size(), found.shape.size());
  for (std::size_t i = 0; i < known.shape.size(); ++i) {
    const symbolic::Expr a = known.shape[i], b = found.shape[i];
    if (a.is_constant() && b.is_constant() && !(a == b))
      return fmt::format("size {} of axis {} would be {}", a.value(), i, b.value());
  }
  return {};
}

std::string first_message(const base::Error& error) {
  return error.diagnostics().empty() ? std::string(error.what())
                                     : error.diagnostics().front().message;
}

}  // namespace

Patch::~Patch() {
  for (Node* node : made_)
    if (node->graph == nullptr) onnx::discard(node);
}

void Patch::fail(std::string reason) {
  if (!failed_) reason_ = std::move(reason);
  failed_ = true;
}

bool Patch::is_new(const ValueInfo* value) const {
  return value->producer != nullptr && value->producer->graph == nullptr &&
         std::ranges::find(made_, value->producer) != made_.end();
}

void Patch::check_input(const ValueInfo* value, const Node* reader) {
  if (value == nullptr || is_new(value)) return;
  if (value->is_disputed)
    fail(fmt::format("the declared type of '{}' is not what its operator gives", value->name));
  else if (!onnx::is_visible(value, reader))
    fail(fmt::format("'{}' is made later", value->name));
}

Node* Patch::made(std::string_view op_type, std::string_view domain, std::vector<ValueInfo*> inputs,
                  std::vector<onnx::Attribute> attributes, std::string_view name,
                  std::size_t outputs) {
  onnx::Model& model = context_.model();
  Node* const made = model.add_node(std::string(op_type), std::string(domain));
  made_.push_back(made);
  made->inputs = std::move(inputs);
  made->attributes = std::move(attributes);
  made->origin = position_->origin;
  made->metadata = position_->metadata;
  context_.record_rule(made);
  for (std::size_t i = 0; i < outputs; ++i)
    onnx::add_output(made, model.add_value(name, position_->graph));
  return made;
}

std::vector<ValueInfo*> Patch::nodes(onnx::Op op, std::vector<ValueInfo*> inputs,
                                     std::vector<onnx::Attribute> attributes, std::string_view name,
                                     std::size_t outputs) {
  for (const ValueInfo* input : inputs) check_input(input, position_);
  if (failed_) return {};
  Node* const node =
      made(onnx::operator_of(op).name, {}, std::move(inputs), std::move(attributes), name, outputs);
  try {
    onnx::infer(node, *context_.model().pool, context_.opset());
  } catch (const base::Error& error) {
    fail(first_message(error));
    return {};
  }
  return node->outputs;
}

std::vector<ValueInfo*> Patch::nodes(const onnx::ForeignOperator& op,
                                     std::vector<ValueInfo*> inputs,
                                     std::vector<onnx::Attribute> attributes, std::string_view name,
                                     std::size_t outputs) {
  for (const ValueInfo* input : inputs) check_input(input, position_);
  const onnx::Model& model = context_.model();
  if (onnx::ancestor_in(model.graph, position_) == nullptr) fail("it is of a function");
  if (failed_) return {};
  Node* const node =
      made(op.name, op.domain, std::move(inputs), std::move(attributes), name, outputs);
  foreign_.push_back(&op);
  try {
    onnx::infer(node, *model.pool, context_.opset(), op);
  } catch (const base::Error& error) {
    fail(first_message(error));
    return {};
  }
  return node->outputs;
}

ValueInfo* Patch::node(onnx::Op op, std::vector<ValueInfo*> inputs,
                       std::vector<onnx::Attribute> attributes, std::string_view name) {
  const std::vector<ValueInfo*> outputs =
      nodes(op, std::move(inputs), std::move(attributes), name, 1);
  return outputs.empty() ? nullptr : outputs.front();
}

ValueInfo* Patch::node(const onnx::ForeignOperator& op, std::vector<ValueInfo*> inputs,
                       std::vector<onnx::Attribute> attributes, std::string_view name) {
  const std::vector<ValueInfo*> outputs =
      nodes(op, std::move(inputs), std::move(attributes), name, 1);
  return outputs.empty() ? nullptr : outputs.front();
}

void Patch::omit(ValueInfo* output) {
  if (!failed_) output->producer->outputs[output->index] = nullptr;
}

ValueInfo* Patch::cast(ValueInfo* x, onnx::DType dtype) {
  if (failed_) return nullptr;
  return node(onnx::Op::kCast, {x}, {{"to", static_cast<std::int64_t>(dtype), {}}},
              x->name + "_Cast");
}

ValueInfo* Patch::ints(std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return context_.model().add_constant(onnx::Tensor::of_ints(values, {count}));
}

ValueInfo* Patch::constant(onnx::Tensor tensor) {
  return context_.model().add_constant(std::move(tensor));
}

ValueInfo* Patch::weight(std::string name, onnx::Tensor tensor) {
  return weights_.emplace_back(context_.model().add_weight(std::move(name), std::move(tensor)));
}

void Patch::set_input(Node* node, std::size_t index, ValueInfo* value) {
  check_input(value, node);
  if (!failed_) edits_.push_back({node, index, value, {}, {}});
}

void Patch::set_attribute(Node* node, std::string name, onnx::Attribute::Data data) {
  if (!failed_) edits_.push_back({node, 0, nullptr, std::move(name), std::move(data)});
}

void Patch::replace(ValueInfo* from, ValueInfo* to) {
  if (failed_) return;
  if (to == nullptr || from == nullptr) return fail("there is nothing to read instead");
  check_input(to, position_);
  replacements_.push_back({from, to});
}

void Patch::set_data(ValueInfo* constant, onnx::Tensor tensor) {
  ValueInfo typed;
  typed.dtype = tensor.dtype;
  typed.has_rank = true;
  typed.shape.assign(tensor.dims.begin(), tensor.dims.end());
  data_.push_back(
      {constant, std::make_shared<const onnx::Tensor>(std::move(tensor)), std::move(typed)});
}

const ValueInfo& Patch::as_it_will_be(const ValueInfo* value) const {
  for (const Data& data : data_)
    if (data.constant == value) return data.typed;
  return *value;
}

// Nodes that change are inferred as they will be, on outputs of their own.
void Patch::check_edits() {
  std::vector<Node*> changed;
  for (const Edit& edit : edits_)
    if (std::ranges::find(changed, edit.node) == changed.end()) changed.push_back(edit.node);
  for (Node* node : changed) {
    Node trial;
    onnx::set_operator(&trial, node->op_type, node->domain);
    trial.inputs = node->inputs;
    trial.attributes = node->attributes;
    std::vector<std::unique_ptr<ValueInfo>> outputs;
    for (const ValueInfo* output : node->outputs) {
      outputs.push_back(output == nullptr ? nullptr : std::make_unique<ValueInfo>());
      trial.outputs.push_back(outputs.back().get());
    }
    for (const Edit& edit : edits_) {
      if (edit.node != node) continue;
      if (!edit.attribute.empty()) {
        onnx::set_attribute(&trial, edit.attribute, edit.data);
        continue;
      }
      if (trial.inputs.size() <= edit.input) trial.inputs.resize(edit.input + 1, nullptr);
      trial.inputs[edit.input] = edit.value;
    }
    try {
      onnx::infer(&trial, *context_.model().pool, context_.opset());
    } catch (const base::Error& error) {
      return fail(first_message(error));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == nullptr) continue;
      const std::string reason = contradiction(*node->outputs[i], *outputs[i]);
      if (!reason.empty()) return fail(fmt::format("of '{}', {}", node->outputs[i]->name, reason));
    }
  }
}

void Patch::check(const Replacement& replacement) {
  const auto& [from, to] = replacement;
  if (from->is_disputed)
    return fail(
        fmt::format("the declared type of '{}' is not what its operator gives", from->name));
  if (const std::string reason = contradiction(*from, as_it_will_be(to)); !reason.empty())
    return fail(fmt::format("of '{}', {}", from->name, reason));
  if (from->returns.empty()) return;
  const bool own =
      to->producer != nullptr && (is_new(to) ? position_->graph : to->graph) == from->graph;
  if (from->returns.size() > 1 || !to->returns.empty() || !own)
    fail(fmt::format("'{}' is an output of its graph, whose name nothing else can take",
                     from->name));
}

bool Patch::apply() {
  if (!failed_) check_edits();
  for (const Replacement& each : replacements_)
    if (!failed_) check(each);
  if (failed_) return context_.decline(position_, reason_);
  commit();
  return true;
}

void Patch::commit() {
  for (Node* made : made_) {
    onnx::enter_uses(made);
    onnx::insert_before(position_, made);
    context_.model().name_node(made, "node_" + made->output()->name);
    context_.touch(made);
  }
  for (const onnx::ForeignOperator* op : foreign_)
    context_.model().opsets[std::string(op->domain)] = op->domain_version;
  for (Data& data : data_) {
    data.constant->constant = std::move(data.tensor);
    data.constant->dtype = data.typed.dtype;
    data.constant->shape = std::move(data.typed.shape);
    data.constant->contents.clear();
  }
  for (ValueInfo* weight : weights_) weight->made_of = folded_;
  for (const Edit& edit : edits_) commit(edit);
  for (const auto& [from, to] : replacements_) {
    Node* const maker = from->producer;
    // What an edited node makes is no longer what its name says, but what it replaces.
    const bool is_edited = std::ranges::any_of(
        edits_, [&made = *to](const Edit& edit) { return edit.node == made.producer; });
    take_over(from, to, is_edited);
    onnx::replace_all_uses(from, to);
    context_.touch(to);
    erase_unused(maker, [this](const ValueInfo* read) { context_.touch(read); });
  }
}

void Patch::commit(const Edit& edit) {
  context_.touch(edit.node);
  context_.record_rule(edit.node);
  for (const ValueInfo* output : edit.node->outputs) context_.touch(output);
  if (!edit.attribute.empty()) {
    onnx::set_attribute(edit.node, edit.attribute, edit.data);
    return;
  }
  ValueInfo* const before = edit.node->input(edit.input);
  onnx::set_input(edit.node, edit.input, edit.value);
  if (before == nullptr || before == edit.value) return;
  context_.touch(before);
  erase_unused(before->producer, [this](const ValueInfo* read) { context_.touch(read); });
}

}  // namespace sardonyx::rewriting

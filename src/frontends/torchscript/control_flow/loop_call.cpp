// The call that a loop becomes: what its body gives, and what stands for that behind the loop.
#include <algorithm>
#include <functional>
#include <utility>

#include "frontends/torchscript/control_flow/loop_state.h"
#include "frontends/torchscript/interpreter/aliases.h"
#include "frontends/torchscript/interpreter/sequences.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using base::DType;
using program::Argument;
using program::List;
using program::Value;
using program::ValueKind;
using symbolic::Expr;

namespace {

Argument truth_of(const AbstractValue& truth) {
  if (truth.value) return truth.value;
  if (truth.expr.is_constant()) return truth.expr.value() != 0;
  return truth.expr;
}

}  // namespace

void DynamicLoop::finish(Body& body) {
  call_ = interpreter_.program().add_call();
  call_->schema = program::find_schema("higher_order::loop");
  call_->name = interpreter_.new_name("loop");
  call_->source = interpreter_.source();
  body.graph->outputs.push_back(
      truth_of(statement_.kind == Statement::Kind::kWhile ? again_ : AbstractValue::of_bool(true)));
  for (auto& [name, slot] : slots_) leave(body, slot, body.variables.at(name));
  for (auto& [held, slot] : held_slots_) {
    const Container& content = body.content(held);
    for (std::size_t i = 0; i < slot.items.size(); ++i)
      leave(body, slot.items[i], content.items.at(i));
  }
  for (auto& [held, stack] : stacks_) {
    Value* const after = body.content(held).stack;
    body.graph->outputs.emplace_back(body.wrote(held) ? after : stack.input);
  }
  const std::vector<std::string> possible_aliases = lists_held_elsewhere(body);
  std::map<std::string, AbstractValue> after = before_;
  for (auto& [name, slot] : slots_) after[name] = result_of(slot, before_[name], name);
  for (const std::string& name : possible_aliases) {
    for (const AbstractValue* each : {&before_[name], &after[name]})
      for (const ObjectRef& held : changeable(*each)) interpreter_.may_alias(held);
  }
  std::vector<std::pair<ObjectRef, Container>> contents;
  for (auto& [held, slot] : held_slots_) {
    Container content = *held;
    for (std::size_t i = 0; i < slot.items.size(); ++i)
      content.items[i] = result_of(slot.items[i], held->items[i], "item");
    contents.emplace_back(held, std::move(content));
  }
  for (auto& [held, stack] : stacks_) {
    Container content = *held;
    const AbstractValue initial = AbstractValue::of_tensor(stack.initial);
    become(content, result_of(stack.slot, initial, "list").value, stack.element.kind);
    contents.emplace_back(held, std::move(content));
  }
  for (auto& [held, content] : contents) {
    if (!filled_.contains(held)) continue;
    content.stack = filled(body, held);
    content.element = elements_.at(held).kind;
  }
  check_elements(body);
  List given = close({body.graph}, interpreter_.program());
  const Argument count = count_ ? Argument(count_->expr) : Argument(program::None{});
  call_->arguments = {body.graph, count, truth_of(condition_), carried_, std::move(given)};
  interpreter_.graph_->calls.push_back(call_);
  for (auto& [held, content] : contents) {
    interpreter_.before_write(held);
    prepend_earlier(*held, content);
    *held = std::move(content);
    for (AbstractValue& item : held->items) read_floats(item);
  }
  for (auto& [name, datum] : after) read_floats(datum);
  interpreter_.frame_->variables = std::move(after);
}

// Variables that hold lists or dictionaries, others from run to run, of which one is held by
// another variable as well. Every run is given copies: none of these may change in it.
std::vector<std::string> DynamicLoop::lists_held_elsewhere(Body& body) {
  std::vector<std::string> possible_aliases;
  std::map<std::string, std::vector<ObjectRef>> lists;
  for (const auto& [name, slot] : slots_) {
    if (!slot.any()) continue;
    for (const AbstractValue* each : {&before_[name], &inputs_[name], &body.variables.at(name)})
      for (const ObjectRef& held : changeable(*each)) lists[name].push_back(held);
  }
  if (lists.empty()) return possible_aliases;
  Names names = read_after(interpreter_.frame_->function->body, statement_);
  names.merge(read_in(statement_));
  for (const auto& [name, held] : lists) names.erase(name);
  const Containers elsewhere = interpreter_.held_by(names, before_);
  for (const auto& [name, own] : lists) {
    const bool is_shared = std::ranges::any_of(own, [&](const ObjectRef& held) {
      return elsewhere.contains(held.get()) || std::ranges::any_of(lists, [&](const auto& other) {
               return other.first != name &&
                      std::ranges::find(other.second, held) != other.second.end();
             });
    });
    if (!is_shared) continue;
    for (const ObjectRef& held : own)
      if (body.wrote(held)) interpreter_.refuse_write_to_alias();
    possible_aliases.push_back(name);
  }
  return possible_aliases;
}

// The tensors that a run is given: as it is given them, and as it leaves them for the next one.
static void each_tensor(const AbstractValue& given, const AbstractValue& left,
                        const std::function<void(const Value*, const Value*)>& visit) {
  if (given.is_tensor() && left.is_tensor() && given.value && left.value)
    return visit(given.value, left.value);
  const bool alike = given.held && left.held && given.held != left.held &&
                     given.held->items.size() == left.held->items.size();
  for (std::size_t i = 0; alike && i < given.held->items.size(); ++i)
    each_tensor(given.held->items[i], left.held->items[i], visit);
}

// What the calls of a body and of those in it give, and what the bodies are given.
static void add_values_of(const program::Graph& graph, std::unordered_set<const Value*>& values) {
  values.insert(graph.inputs.begin(), graph.inputs.end());
  for (const program::Call* call : graph.calls) {
    values.insert(call->outputs.begin(), call->outputs.end());
    for (const Argument& argument : call->arguments)
      if (program::Graph* const* inner = argument.get<program::Graph*>())
        add_values_of(**inner, values);
  }
}

// A run may not write to what an earlier one put into a list.
void DynamicLoop::check_elements(Body& body) {
  std::unordered_set<const Value*> own, kept;
  add_values_of(*body.graph, own);
  for (const Value* each : interpreter_.copied_)
    if (!own.contains(each)) kept.insert(each);
  const auto visit = [&](const Value* given, const Value* left) {
    if (interpreter_.copied_.contains(whole_of(left))) kept.insert(given);
  };
  for (const auto& [name, slot] : slots_)
    if (slot.any()) each_tensor(inputs_[name], body.variables.at(name), visit);
  for (const auto& [held, content] : entered_contents_) {
    const Container& after = body.content(held);
    for (std::size_t i = 0; i < std::min(content.items.size(), after.items.size()); ++i)
      each_tensor(content.items[i], after.items[i], visit);
  }
  for (std::size_t i = first_write_; i < interpreter_.written_.size(); ++i)
    if (kept.contains(interpreter_.written_[i]))
      interpreter_.refuse_write_to_element("a run of a loop");
}

void DynamicLoop::leave(Body& body, const Slot& slot, const AbstractValue& result) {
  if (slot.element) {
    const auto inside = body.inside();
    body.graph->outputs.emplace_back(stacked(interpreter_, *result.held, *slot.element));
    return;
  }
  if (slot.carried) {
    if (result.kind == Kind::kInt) {
      body.graph->outputs.emplace_back(result.expr);
    } else {
      body.graph->outputs.emplace_back(body.tensor(result));
    }
    return;
  }
  for (std::size_t i = 0; i < slot.items.size(); ++i)
    leave(body, slot.items[i], result.held->items[i]);
}

Value* DynamicLoop::add_output(const std::string& name) {
  Value* value = interpreter_.program().add_value();
  value->name = interpreter_.new_name(name);
  value->producer = call_;
  value->index = static_cast<std::uint32_t>(call_->outputs.size());
  call_->outputs.push_back(value);
  return value;
}

AbstractValue DynamicLoop::result_of(const Slot& slot, const AbstractValue& initial,
                                     const std::string& name) {
  if (!slot.any()) return initial;
  if (!slot.carried) {
    AbstractValue made = AbstractValue::of_items(initial.kind, {});
    made.held->type = initial.held->type;
    made.held->names = initial.held->names;
    for (std::size_t i = 0; i < slot.items.size(); ++i)
      made.held->items.push_back(result_of(slot.items[i], initial.held->items[i], name));
    return made;
  }
  Value* value = add_output(name);
  if (initial.kind == Kind::kInt) {
    value->kind = ValueKind::kInt;
    value->expr = interpreter_.pool().fresh("u");
    interpreter_.pool().constrain(value->expr, symbolic::Range());
    interpreter_.pool().mark_unbacked(value->expr);
    return AbstractValue::of_int(value->expr);
  }
  const Value* input = slot.element ? slot.initial : initial.value;
  if (is_sequence(input)) {
    static_cast<program::ValueType&>(*value) = *input;
    return slot.element ? of_stack(value, slot.element->kind) : AbstractValue::of_tensor(value);
  }
  value->dtype = initial.kind == Kind::kBool    ? DType::kBool
                 : initial.kind == Kind::kFloat ? DType::kFloat64
                 : input                        ? input->dtype
                                                : DType::kInt64;
  for (std::size_t i = 0; i < slot.varies.size(); ++i)
    value->shape.push_back(slot.varies[i] ? fresh_size(interpreter_.pool()) : input->shape[i]);
  if (slot.element) return of_stack(value, slot.element->kind);
  if (initial.kind == Kind::kBool) return of_truth(value);
  if (initial.kind == Kind::kFloat) floats_.insert(value);
  return AbstractValue::of_tensor(value);
}

void DynamicLoop::read_floats(AbstractValue& datum) {
  if (datum.is_tensor() && floats_.contains(datum.value)) {
    datum = interpreter_.item(datum);
  } else if (datum.held && (datum.kind == Kind::kTuple || datum.kind == Kind::kOptional)) {
    for (AbstractValue& item : datum.held->items) read_floats(item);
  }
}

// The elements of all runs, one behind the other.
Value* DynamicLoop::filled(Body& body, const ObjectRef& held) {
  const AbstractValue& element = body.content(held).items.front();
  Value* const inner = body.tensor(element);
  if (element.is_tensor()) interpreter_.copy_into_list(inner);
  body.graph->outputs.emplace_back(inner);
  Value* value = add_output("stack");
  value->dtype = inner->dtype;
  const bool counts = count_ && condition_.expr.is(1) && !condition_.value;
  value->shape.push_back(counts ? symbolic::max(count_->expr, 0) : fresh_size(interpreter_.pool()));
  for (const Expr size : inner->shape) {
    if (body.is_local(size))
      interpreter_.refuse("a loop fills a list with tensors whose sizes differ from run to run");
    value->shape.push_back(size);
  }
  return value;
}

// What the list held before the loop stands in front.
void DynamicLoop::prepend_earlier(const Container& held, Container& content) {
  if (!content.stack || !filled_.contains(shared_of(held))) return;
  if (held.items.empty() && !held.stack) return;
  const AbstractValue stack = AbstractValue::of_tensor(content.stack);
  const Element& element = elements_.at(shared_of(held));
  const AbstractValue earlier = AbstractValue::of_tensor(stacked(interpreter_, held, element));
  content.stack =
      interpreter_.call("aten::cat", {AbstractValue::of_items(Kind::kList, {earlier, stack})})
          .value;
  content.items.clear();
}

DynamicLoop::ObjectRef DynamicLoop::shared_of(const Container& held) const {
  for (const auto& [each, slot] : held_slots_)
    if (each.get() == &held) return each;
  return nullptr;
}

}  // namespace sardonyx::torchscript

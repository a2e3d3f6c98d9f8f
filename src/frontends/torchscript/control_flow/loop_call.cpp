#include "frontends/torchscript/control_flow/loop_call.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "frontends/torchscript/recording/aliases.h"
#include "frontends/torchscript/recording/sequences.h"
#include "frontends/torchscript/syntax/liveness.h"

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

void LoopCall::record() {
  call_ = recorder_.new_call("higher_order::loop");
  add_body_outputs();
  Variables after = variables_after();
  Contents contents = contents_after();
  check_elements();
  List operands = close({body_.graph}, recorder_.program());
  const Argument count = loop_.count ? Argument(loop_.count->expr) : Argument(program::None{});
  call_->arguments = {body_.graph, count, truth_of(loop_.condition), loop_.carried,
                      std::move(operands)};
  recorder_.append(call_);
  for (auto& [held, content] : contents) {
    state_.writes.before_write(held);
    prepend_earlier(*held, content);
    *held = std::move(content);
    for (AbstractValue& item : held->items) read_floats(item);
  }
  for (auto& [name, datum] : after) read_floats(datum);
  state_.stack.variables() = std::move(after);
}

void LoopCall::add_body_outputs() {
  body_.graph->outputs.push_back(truth_of(loop_.statement.kind == Statement::Kind::kWhile
                                              ? loop_.again
                                              : AbstractValue::of_bool(true)));
  for (auto& [name, slot] : loop_.slots) leave(slot, body_.variables.at(name));
  for (auto& [held, slot] : loop_.held_slots) {
    const Container& content = body_.content(held);
    for (std::size_t i = 0; i < slot.items.size(); ++i) leave(slot.items[i], content.items.at(i));
  }
  for (auto& [held, stack] : loop_.stacks) {
    Value* const after = body_.content(held).stack;
    body_.graph->outputs.emplace_back(body_.wrote(held) ? after : stack.input);
  }
}

Variables LoopCall::variables_after() {
  const std::vector<std::string> possible_aliases = lists_held_elsewhere();
  Variables after = loop_.before;
  for (auto& [name, slot] : loop_.slots) after[name] = result_of(slot, loop_.before[name], name);
  for (const std::string& name : possible_aliases) {
    for (const AbstractValue* each : {&loop_.before[name], &after[name]})
      for (const ObjectRef& held : changeable(*each)) state_.writes.may_alias(held);
  }
  return after;
}

LoopCall::Contents LoopCall::contents_after() {
  Contents contents;
  for (auto& [held, slot] : loop_.held_slots) {
    Container content = *held;
    for (std::size_t i = 0; i < slot.items.size(); ++i)
      content.items[i] = result_of(slot.items[i], held->items[i], "item");
    contents.emplace_back(held, std::move(content));
  }
  for (auto& [held, stack] : loop_.stacks) {
    Container content = *held;
    const AbstractValue initial = AbstractValue::of_tensor(stack.initial);
    become(content, result_of(stack.slot, initial, "list").value, stack.element.kind);
    contents.emplace_back(held, std::move(content));
  }
  for (auto& [held, content] : contents) {
    if (!loop_.filled.contains(held)) continue;
    content.stack = filled(held);
    content.element = loop_.elements.at(held).kind;
  }
  return contents;
}

// Variables that hold lists or dictionaries, others from run to run, of which one is held by
// another variable as well. Every run is given copies: none of these may change in it.
std::vector<std::string> LoopCall::lists_held_elsewhere() {
  std::vector<std::string> possible_aliases;
  std::map<std::string, std::vector<ObjectRef>> lists;
  for (const auto& [name, slot] : loop_.slots) {
    if (!slot.any()) continue;
    for (const AbstractValue* each :
         {&loop_.before[name], &loop_.inputs[name], &body_.variables.at(name)})
      for (const ObjectRef& held : changeable(*each)) lists[name].push_back(held);
  }
  if (lists.empty()) return possible_aliases;
  Names names = read_after(state_.stack.top().function->body, loop_.statement);
  names.merge(read_in(loop_.statement));
  for (const auto& [name, held] : lists) names.erase(name);
  const Containers elsewhere = held_by(names, loop_.before, state_.stack, state_.archive.root());
  for (const auto& [name, own] : lists) {
    const bool is_shared = std::ranges::any_of(own, [&](const ObjectRef& held) {
      return elsewhere.contains(held.get()) || std::ranges::any_of(lists, [&](const auto& other) {
               return other.first != name &&
                      std::ranges::find(other.second, held) != other.second.end();
             });
    });
    if (!is_shared) continue;
    for (const ObjectRef& held : own)
      if (body_.wrote(held)) MutationTracker::refuse_write_to_alias();
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
void LoopCall::check_elements() {
  std::unordered_set<const Value*> own, kept;
  add_values_of(*body_.graph, own);
  for (const Value* each : state_.writes.copied())
    if (!own.contains(each)) kept.insert(each);
  const auto visit = [&](const Value* given, const Value* left) {
    if (state_.writes.copied().contains(whole_of(left))) kept.insert(given);
  };
  for (const auto& [name, slot] : loop_.slots)
    if (slot.any()) each_tensor(loop_.inputs[name], body_.variables.at(name), visit);
  for (const auto& [held, content] : loop_.entered_contents) {
    const Container& after = body_.content(held);
    for (std::size_t i = 0; i < std::min(content.items.size(), after.items.size()); ++i)
      each_tensor(content.items[i], after.items[i], visit);
  }
  for (std::size_t i = loop_.first_write; i < state_.writes.written().size(); ++i)
    if (kept.contains(state_.writes.written()[i]))
      MutationTracker::refuse_write_to_element("a run of a loop");
}

void LoopCall::leave(const Slot& slot, const AbstractValue& result) {
  if (slot.element) {
    const auto inside = body_.inside();
    body_.graph->outputs.emplace_back(stacked(recorder_, *result.held, *slot.element));
    return;
  }
  if (slot.carried) {
    if (result.kind == Kind::kInt) {
      body_.graph->outputs.emplace_back(result.expr);
    } else {
      body_.graph->outputs.emplace_back(body_.tensor(result));
    }
    return;
  }
  for (std::size_t i = 0; i < slot.items.size(); ++i) leave(slot.items[i], result.held->items[i]);
}

Value* LoopCall::add_output(const std::string& name) {
  Value* value = recorder_.program().add_value();
  value->name = recorder_.new_name(name);
  value->producer = call_;
  value->index = static_cast<std::uint32_t>(call_->outputs.size());
  call_->outputs.push_back(value);
  return value;
}

AbstractValue LoopCall::result_of(const Slot& slot, const AbstractValue& initial,
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
  return carried_result(slot, initial, name);
}

AbstractValue LoopCall::carried_result(const Slot& slot, const AbstractValue& initial,
                                       const std::string& name) {
  Value* value = add_output(name);
  if (initial.kind == Kind::kInt) {
    value->kind = ValueKind::kInt;
    value->expr = recorder_.pool().fresh("u");
    recorder_.pool().constrain(value->expr, symbolic::Range());
    recorder_.pool().mark_unbacked(value->expr);
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
    value->shape.push_back(slot.varies[i] ? fresh_size(recorder_.pool()) : input->shape[i]);
  if (slot.element) return of_stack(value, slot.element->kind);
  if (initial.kind == Kind::kBool) return of_truth(value);
  if (initial.kind == Kind::kFloat) floats_.insert(value);
  return AbstractValue::of_tensor(value);
}

void LoopCall::read_floats(AbstractValue& datum) {
  if (datum.is_tensor() && floats_.contains(datum.value)) {
    datum = recorder_.item(datum);
  } else if (datum.held && (datum.kind == Kind::kTuple || datum.kind == Kind::kOptional)) {
    for (AbstractValue& item : datum.held->items) read_floats(item);
  }
}

// The elements of all runs, one behind the other.
Value* LoopCall::filled(const ObjectRef& held) {
  const AbstractValue& element = body_.content(held).items.front();
  Value* const inner = body_.tensor(element);
  if (element.is_tensor()) state_.writes.copy_into_list(inner);
  body_.graph->outputs.emplace_back(inner);
  Value* value = add_output("stack");
  value->dtype = inner->dtype;
  const bool counts = loop_.count && loop_.condition.expr.is(1) && !loop_.condition.value;
  value->shape.push_back(counts ? symbolic::max(loop_.count->expr, 0)
                                : fresh_size(recorder_.pool()));
  for (const Expr size : inner->shape) {
    if (body_.is_local(size))
      refuse("a loop fills a list with tensors whose sizes differ from run to run");
    value->shape.push_back(size);
  }
  return value;
}

// What the list held before the loop stands in front.
void LoopCall::prepend_earlier(const Container& held, Container& content) {
  if (!content.stack || !loop_.filled.contains(shared_of(held))) return;
  if (held.items.empty() && !held.stack) return;
  const AbstractValue stack = AbstractValue::of_tensor(content.stack);
  const Element& element = loop_.elements.at(shared_of(held));
  const AbstractValue earlier = AbstractValue::of_tensor(stacked(recorder_, held, element));
  content.stack =
      recorder_.call("aten::cat", {AbstractValue::of_items(Kind::kList, {earlier, stack})}).value;
  content.items.clear();
}

LoopCall::ObjectRef LoopCall::shared_of(const Container& held) const {
  for (const auto& [each, slot] : loop_.held_slots)
    if (each.get() == &held) return each;
  return nullptr;
}

}  // namespace sardonyx::torchscript

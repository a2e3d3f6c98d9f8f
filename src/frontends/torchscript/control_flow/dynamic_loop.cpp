// A loop with a data-dependent count or condition: its body is interpreted with what it changes as
// inputs.
#include "frontends/torchscript/control_flow/dynamic_loop.h"

#include <algorithm>
#include <utility>

#include "frontends/torchscript/control_flow/loop_state.h"
#include "frontends/torchscript/interpreter/sequences.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Value;
using program::ValueKind;

namespace {

constexpr int kMaxRounds = 50;

}  // namespace

AbstractValue of_truth(Value* value) {
  AbstractValue truth;
  truth.kind = Kind::kBool;
  truth.value = value;
  return truth;
}

bool DynamicLoop::Slot::any() const {
  return carried || std::ranges::any_of(items, [](const Slot& item) { return item.any(); });
}

DynamicLoop::Outside::Outside(DynamicLoop& loop)
    : interpreter(loop.interpreter_), inner(std::exchange(loop.interpreter_.graph_, loop.outer_)) {}

DynamicLoop::Outside::~Outside() { interpreter.graph_ = inner; }

DynamicLoop::DynamicLoop(AbstractInterpreter& interpreter, const Statement& statement,
                         std::optional<AbstractValue> count, AbstractValue condition)
    : interpreter_(interpreter),
      statement_(statement),
      count_(std::move(count)),
      condition_(std::move(condition)),
      before_(interpreter.frame_->variables),
      outer_(interpreter.graph_) {
  for (const auto& [name, datum] : before_) reach(datum);
  reach(interpreter.archive_.root());
}

void DynamicLoop::reach(const AbstractValue& datum) {
  if (!datum.held || !reachable_.insert(datum.held.get()).second) return;
  for (const AbstractValue& item : datum.held->items) reach(item);
}

void DynamicLoop::run() {
  for (int round = 0; round < kMaxRounds; ++round) {
    Body body(interpreter_, "loop");
    enter(body);
    try {
      if (!try_follow(body)) return finish(body);
    } catch (const FillingRead& read) {
      if (!filled_.contains(read.held)) throw;
      carry_as_stack(read.held, elements_.at(read.held));
    }
  }
  interpreter_.refuse("what the loop changes changes in its type with every run");
}

void DynamicLoop::enter(Body& body) {
  const auto inside = body.inside();
  carried_.clear();
  iteration_ = integer_input(body, interpreter_.new_name("iteration"), false);
  inputs_ = before_;
  for (auto& [name, slot] : slots_) inputs_[name] = entered(body, slot, before_[name], name);
  entered_contents_.clear();
  for (auto& [held, slot] : held_slots_) {
    Container content = *held;
    for (std::size_t i = 0; i < slot.items.size(); ++i)
      content.items[i] = entered(body, slot.items[i], held->items[i], "item");
    entered_contents_.emplace_back(held, std::move(content));
  }
  for (auto& [held, stack] : stacks_) {
    Container content = *held;
    stack.input =
        carried_input(body, stack.slot, AbstractValue::of_tensor(stack.initial), "list").value;
    become(content, stack.input, stack.element.kind);
    entered_contents_.emplace_back(held, std::move(content));
  }
}

Value* DynamicLoop::add_input(Body& body, const std::string& name) {
  Value* value = interpreter_.program().add_value();
  value->name = name;
  value->index = static_cast<std::uint32_t>(body.graph->inputs.size());
  body.graph->inputs.push_back(value);
  return value;
}

// A number that the body is given.
AbstractValue DynamicLoop::integer_input(Body& body, const std::string& name,
                                         bool may_be_negative) {
  Value* value = add_input(body, name);
  value->kind = ValueKind::kInt;
  value->expr = interpreter_.pool().fresh("u");
  if (may_be_negative) interpreter_.pool().constrain(value->expr, symbolic::Range());
  interpreter_.pool().mark_unbacked(value->expr);
  return AbstractValue::of_int(value->expr);
}

AbstractValue DynamicLoop::entered(Body& body, Slot& slot, const AbstractValue& initial,
                                   const std::string& name) {
  if (slot.carried) return carried_input(body, slot, initial, name);
  if (!slot.any()) return initial;
  AbstractValue made = AbstractValue::of_items(initial.kind, {});
  made.held->type = initial.held->type;
  made.held->names = initial.held->names;
  for (std::size_t i = 0; i < slot.items.size(); ++i)
    made.held->items.push_back(entered(body, slot.items[i], initial.held->items[i], name));
  return made;
}

// What the first run is given, made where the loop stands.
Value* DynamicLoop::initial_value(const Slot& slot, const AbstractValue& initial) {
  const Outside outside(*this);
  if (slot.element) return stacked(interpreter_, *initial.held, *slot.element);
  return interpreter_.tensor(initial);
}

AbstractValue DynamicLoop::carried_input(Body& body, Slot& slot, const AbstractValue& initial,
                                         const std::string& name) {
  if (initial.kind == Kind::kInt) {
    carried_.emplace_back(initial.expr);
    return integer_input(body, interpreter_.new_name(name), true);
  }
  Value* const outer = initial_value(slot, initial);
  if (slot.element) slot.initial = outer;
  carried_.emplace_back(outer);
  Value* value = add_input(body, interpreter_.new_name(name));
  if (is_sequence(outer)) {
    static_cast<program::ValueType&>(*value) = *outer;
  } else {
    value->dtype = outer->dtype;
    for (std::size_t i = 0; i < outer->rank(); ++i)
      value->shape.push_back(slot.varies.at(i) ? fresh_size(interpreter_.pool()) : outer->shape[i]);
  }
  if (slot.element) return of_stack(value, slot.element->kind);
  if (initial.kind == Kind::kBool) return of_truth(value);
  return initial.kind == Kind::kFloat ? interpreter_.item(AbstractValue::of_tensor(value))
                                      : AbstractValue::of_tensor(value);
}

// Whether it found more that the loop changes.
bool DynamicLoop::try_follow(Body& body) {
  std::vector<std::pair<ObjectRef, Container>> saved;
  for (auto& [held, content] : entered_contents_) {
    saved.emplace_back(held, *held);
    *held = content;
    if (filled_.contains(held)) {
      held->items.clear();
      held->filling = true;
    }
  }
  first_write_ = interpreter_.written_.size();
  interpreter_.frame_->variables = inputs_;
  if (statement_.kind == Statement::Kind::kFor)
    interpreter_.assign(*statement_.targets.front(), iteration_);
  const auto restore = [&] {
    for (auto& [held, content] : saved) *held = content;
    interpreter_.frame_->variables = before_;
  };
  try {
    body.follow(statement_.body, [&] {
      if (statement_.kind == Statement::Kind::kWhile)
        again_ = interpreter_.evaluate(*statement_.value);
    });
  } catch (...) {
    restore();
    throw;
  }
  restore();
  if (body.raised) throw Raised{body.message};
  return learn(body);
}

void run_on_data(AbstractInterpreter& interpreter, const Statement& statement,
                 std::optional<AbstractValue> count, const AbstractValue& condition) {
  DynamicLoop(interpreter, statement, std::move(count), condition).run();
}

}  // namespace sardonyx::torchscript

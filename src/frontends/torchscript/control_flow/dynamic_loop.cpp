#include "frontends/torchscript/control_flow/dynamic_loop.h"

#include <utility>

#include "frontends/torchscript/control_flow/loop_call.h"
#include "frontends/torchscript/control_flow/loop_fixpoint.h"
#include "frontends/torchscript/recording/interruptions.h"
#include "frontends/torchscript/recording/sequences.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Value;
using program::ValueKind;

namespace {

constexpr int kMaxRounds = 50;

// While it lives, calls are recorded where the loop stands.
class Outside {
 public:
  Outside(GraphRecorder& recorder, program::Graph* outer)
      : recorder_(recorder), inner_(recorder.exchange_graph(outer)) {}
  ~Outside() { recorder_.exchange_graph(inner_); }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  GraphRecorder& recorder_;
  program::Graph* inner_;
};

}  // namespace

DynamicLoop::DynamicLoop(Interpretation& state, const Statement& statement,
                         std::optional<AbstractValue> count, AbstractValue condition)
    : state_(state),
      recorder_(state.recorder),
      loop_(state, statement, std::move(count), std::move(condition)) {}

void DynamicLoop::run() {
  for (int round = 0; round < kMaxRounds; ++round) {
    Body body(state_, "loop");
    enter(body);
    try {
      if (!try_follow(body)) return LoopCall(state_, loop_, body).record();
    } catch (const FillingRead& read) {
      if (!loop_.filled.contains(read.held)) throw;
      loop_.carry_as_stack(recorder_, read.held, loop_.elements.at(read.held));
    }
  }
  refuse("what the loop changes changes in its type with every run");
}

void DynamicLoop::enter(Body& body) {
  const auto inside = body.inside();
  loop_.carried.clear();
  loop_.iteration = integer_input(body, recorder_.new_name("iteration"), false);
  loop_.inputs = loop_.before;
  for (auto& [name, slot] : loop_.slots)
    loop_.inputs[name] = entered(body, slot, loop_.before[name], name);
  loop_.entered_contents.clear();
  for (auto& [held, slot] : loop_.held_slots) {
    Container content = *held;
    for (std::size_t i = 0; i < slot.items.size(); ++i)
      content.items[i] = entered(body, slot.items[i], held->items[i], "item");
    loop_.entered_contents.emplace_back(held, std::move(content));
  }
  for (auto& [held, stack] : loop_.stacks) {
    Container content = *held;
    stack.input =
        carried_input(body, stack.slot, AbstractValue::of_tensor(stack.initial), "list").value;
    become(content, stack.input, stack.element.kind);
    loop_.entered_contents.emplace_back(held, std::move(content));
  }
}

Value* DynamicLoop::add_input(Body& body, const std::string& name) {
  Value* value = recorder_.program().add_value();
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
  value->expr = recorder_.pool().fresh("u");
  if (may_be_negative) recorder_.pool().constrain(value->expr, symbolic::Range());
  recorder_.pool().mark_unbacked(value->expr);
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
  const Outside outside(recorder_, loop_.outer);
  if (slot.element) return stacked(recorder_, *initial.held, *slot.element);
  return recorder_.tensor(initial);
}

AbstractValue DynamicLoop::carried_input(Body& body, Slot& slot, const AbstractValue& initial,
                                         const std::string& name) {
  if (initial.kind == Kind::kInt) {
    loop_.carried.emplace_back(initial.expr);
    return integer_input(body, recorder_.new_name(name), true);
  }
  Value* const outer = initial_value(slot, initial);
  if (slot.element) slot.initial = outer;
  loop_.carried.emplace_back(outer);
  Value* value = add_input(body, recorder_.new_name(name));
  if (is_sequence(outer)) {
    static_cast<program::ValueType&>(*value) = *outer;
  } else {
    value->dtype = outer->dtype;
    for (std::size_t i = 0; i < outer->rank(); ++i)
      value->shape.push_back(slot.varies.at(i) ? fresh_size(recorder_.pool()) : outer->shape[i]);
  }
  if (slot.element) return of_stack(value, slot.element->kind);
  if (initial.kind == Kind::kBool) return of_truth(value);
  return initial.kind == Kind::kFloat ? recorder_.item(AbstractValue::of_tensor(value))
                                      : AbstractValue::of_tensor(value);
}

// Whether it found more that the loop changes.
bool DynamicLoop::try_follow(Body& body) {
  std::vector<std::pair<LoopState::ObjectRef, Container>> saved;
  for (auto& [held, content] : loop_.entered_contents) {
    saved.emplace_back(held, *held);
    *held = content;
    if (loop_.filled.contains(held)) {
      held->items.clear();
      held->filling = true;
    }
  }
  loop_.first_write = state_.writes.written().size();
  state_.stack.variables() = loop_.inputs;
  if (loop_.statement.kind == Statement::Kind::kFor)
    state_.code.assign(*loop_.statement.targets.front(), loop_.iteration);
  const auto restore = [&] {
    for (auto& [held, content] : saved) *held = content;
    state_.stack.variables() = loop_.before;
  };
  try {
    body.follow(loop_.statement.body, [&] {
      if (loop_.statement.kind == Statement::Kind::kWhile)
        loop_.again = state_.code.evaluate(*loop_.statement.value);
    });
  } catch (...) {
    restore();
    throw;
  }
  restore();
  if (body.raised) throw Raised{body.message};
  return LoopFixpoint(state_, loop_, body).learn();
}

}  // namespace sardonyx::torchscript

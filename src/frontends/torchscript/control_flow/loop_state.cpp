#include "frontends/torchscript/control_flow/loop_state.h"

#include <algorithm>
#include <utility>

#include "frontends/torchscript/recording/aliases.h"

namespace sardonyx::torchscript {

bool LoopState::Slot::any() const {
  return carried || std::ranges::any_of(items, [](const Slot& item) { return item.any(); });
}

LoopState::LoopState(Interpretation& state, const Statement& of, std::optional<AbstractValue> runs,
                     AbstractValue starts)
    : statement(of),
      count(std::move(runs)),
      condition(std::move(starts)),
      before(state.stack.variables()),
      outer(&state.recorder.graph()) {
  for (const auto& [name, datum] : before) add_held(reachable, datum);
  add_held(reachable, state.archive.root());
}

void LoopState::carry_as_stack(GraphRecorder& recorder, const ObjectRef& held,
                               const Element& element) {
  filled.erase(held);
  held_slots.erase(held);
  Stack& stack = stacks[held];
  stack.initial = stacked(recorder, *held, element);
  stack.element = element;
  stack.slot.carried = true;
  stack.slot.varies.assign(element.shape.size() + 1, false);
  stack.slot.varies[0] = true;
}

AbstractValue of_truth(program::Value* value) {
  AbstractValue truth;
  truth.kind = AbstractValue::Kind::kBool;
  truth.value = value;
  return truth;
}

}  // namespace sardonyx::torchscript

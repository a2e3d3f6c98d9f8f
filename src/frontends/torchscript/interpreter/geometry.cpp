#include "frontends/torchscript/interpreter/geometry.h"

#include <algorithm>

#include "program/facts/facts.h"

namespace sardonyx::torchscript {

namespace {

bool holds(const AbstractValue& datum, const program::Value* value) {
  return datum.is_tensor() && datum.value == value;
}

}  // namespace

// In the variables of all calls, and in what they and the modules hold.
static void replace_everywhere(GraphRecorder& recorder, CallStack& stack, const AbstractValue& root,
                               const program::Value* before, const AbstractValue& after) {
  std::unordered_set<const Container*> seen;
  const std::function<void(const AbstractValue&)> visit = [&](const AbstractValue& datum) {
    const std::shared_ptr<Container> held = datum.held;
    if (!held || !seen.insert(held.get()).second) return;
    const auto here = [&](const AbstractValue& item) { return holds(item, before); };
    if (std::ranges::any_of(held->items, here)) {
      recorder.writes().before_write(held);
      std::ranges::replace_if(held->items, here, after);
    }
    for (const AbstractValue& item : held->items) visit(item);
  };
  bool is_taken_back = true;
  for (CallStack::Frame* frame = &stack.top(); frame; frame = frame->caller) {
    for (auto& [name, datum] : frame->variables) {
      if (holds(datum, before)) {
        if (!is_taken_back)
          refuse("a data-dependent branch or loop changes the sizes of '" + name +
                 "', which the caller of the function holds");
        datum = after;
      }
      visit(datum);
    }
    if (stack.is_body_frame(*frame)) is_taken_back = false;
  }
  visit(root);
}

// The call becomes a view, which stands in the tensor's place from here on.
std::optional<AbstractValue> change_geometry(GraphRecorder& recorder, CallStack& stack,
                                             const AbstractValue& root, const Operands& operands) {
  const std::string& op = operands.op;
  const bool changes = op.ends_with('_') && !op.ends_with("__") &&
                       program::facts_of(op).write == program::WriteKind::kMetadata;
  if (!changes || operands.positional.empty()) return std::nullopt;
  AbstractValue self = operands.positional.front();
  if (!self.is_tensor()) return std::nullopt;
  program::Value* const before = recorder.tensor(self);
  if (before->weight) refuse(op + " changes the shape of a weight, which the next call would see");
  AbstractValue view =
      recorder.call(op.substr(0, op.size() - 1), operands.positional, operands.named);
  replace_everywhere(recorder, stack, root, before, view);
  return view;
}

}  // namespace sardonyx::torchscript

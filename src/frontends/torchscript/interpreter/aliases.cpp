#include "frontends/torchscript/interpreter/aliases.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

void add_held(Containers& found, const AbstractValue& datum) {
  if (!datum.held || !found.insert(datum.held.get()).second) return;
  for (const AbstractValue& item : datum.held->items) add_held(found, item);
}

namespace {

void add_changeable(std::vector<std::shared_ptr<Container>>& found, const AbstractValue& datum) {
  if (!datum.held || datum.kind == Kind::kObject) return;
  if (datum.kind != Kind::kTuple && datum.kind != Kind::kOptional) found.push_back(datum.held);
  for (const AbstractValue& item : datum.held->items) add_changeable(found, item);
}

}  // namespace

std::vector<std::shared_ptr<Container>> changeable(const AbstractValue& datum) {
  std::vector<std::shared_ptr<Container>> found;
  add_changeable(found, datum);
  return found;
}

// What the named variables hold, those of the functions that called this one, and the model.
Containers AbstractInterpreter::held_by(const Names& names, const Variables& variables) {
  Containers found;
  for (const std::string_view name : names) {
    const auto variable = variables.find(std::string(name));
    if (variable != variables.end()) add_held(found, variable->second);
  }
  for (const Frame* caller = frame_->caller; caller; caller = caller->caller)
    for (const auto& [name, datum] : caller->variables) add_held(found, datum);
  add_held(found, archive_.root());
  return found;
}

void AbstractInterpreter::may_alias(const std::shared_ptr<Container>& held) {
  possible_aliases_.insert(held);
}

void AbstractInterpreter::refuse_write_to_alias() const {
  refuse("a list or a dictionary is changed that is one of several, depending on data",
         "change a copy of it: list(x) or dict(x)");
}

}  // namespace sardonyx::torchscript

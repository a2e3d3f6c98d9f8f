#include "frontends/torchscript/recording/aliases.h"

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

Containers held_by(const Names& names, const Variables& variables, const CallStack& stack,
                   const AbstractValue& root) {
  Containers found;
  for (const std::string_view name : names) {
    const auto variable = variables.find(std::string(name));
    if (variable != variables.end()) add_held(found, variable->second);
  }
  for (const CallStack::Frame* caller = stack.top().caller; caller; caller = caller->caller)
    for (const auto& [name, datum] : caller->variables) add_held(found, datum);
  add_held(found, root);
  return found;
}

}  // namespace sardonyx::torchscript

// Lists and dictionaries that may alias, depending on data. The result of a branch or a loop is a
// copy: where something else holds one of those that it may alias, no mutation of either may go
// unseen.
#pragma once

#include <unordered_set>

#include "frontends/torchscript/recording/call_stack.h"
#include "frontends/torchscript/syntax/liveness.h"

namespace sardonyx::torchscript {

using Containers = std::unordered_set<const Container*>;

// Everything that these hold, one in the other.
void add_held(Containers& found, const AbstractValue& datum);

// The lists and dictionaries among what a value holds, itself too, that can be changed.
std::vector<std::shared_ptr<Container>> changeable(const AbstractValue& datum);

// What the named variables hold, those of the functions that called this one, and the model.
Containers held_by(const Names& names, const Variables& variables, const CallStack& stack,
                   const AbstractValue& root);

}  // namespace sardonyx::torchscript

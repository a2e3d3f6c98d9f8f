// Lists and dictionaries that may be one and the same, as data decide. What a branch or a loop
// gives is a copy: where something else holds one of those that it may be, no write to either may
// go unseen.
#pragma once

#include <unordered_set>

#include "frontends/torchscript/follower.h"
#include "frontends/torchscript/liveness.h"

namespace sardonyx::torchscript {

using Containers = std::unordered_set<const Container*>;

// Everything that these hold, one in the other.
void add_held(Containers& found, const Datum& datum);

// The lists and dictionaries among what a value holds, itself too, that can be changed.
std::vector<std::shared_ptr<Container>> changeable(const Datum& datum);

}  // namespace sardonyx::torchscript

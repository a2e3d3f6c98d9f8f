// Which variables of a function its code still reads.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "frontends/torchscript/syntax.h"

namespace sardonyx::torchscript {

using Names = std::unordered_set<std::string_view>;

// Those that are read once a statement of the block, or of what is in it, is done: behind it, and
// anywhere in the loops around it.
Names read_after(const std::vector<Statement>& block, const Statement& statement);

// Those that the statement and what is in it read.
Names read_in(const Statement& statement);

}  // namespace sardonyx::torchscript

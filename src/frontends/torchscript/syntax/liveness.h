// Which variables of a function its code still reads.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "frontends/torchscript/syntax/syntax.h"

namespace sardonyx::torchscript {

using Names = std::unordered_set<std::string_view>;

// Those whose value at the end of a statement, of the block or of what is in it, may be read:
// behind it, or by another run of the loops around it, before they are set anew.
Names read_after(const std::vector<Statement>& block, const Statement& statement);

// Those that the statement and what is in it read.
Names read_in(const Statement& statement);

}  // namespace sardonyx::torchscript

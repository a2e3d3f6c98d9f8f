// Dimensions that a program keeps in all runs, though PyTorch drops them in some.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "program/ir/program.h"

namespace sardonyx::program {

// A note (SX1313) for each dynamic dimension that squeeze should drop: values have one rank, so it
// stays. Called before functionalization, which decomposes views.
std::vector<base::Diagnostic> notes_of_kept_sizes(const Program& program);

}  // namespace sardonyx::program

// Dimensions that a program keeps in all runs, though PyTorch drops them in some.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "program/ir/program.h"

namespace sardonyx::program {

// A note (SX1313) for each dimension that squeeze is asked to drop and whose size only a run tells:
// values have one rank, so it stays. Asked before functionalisation, which takes views apart.
std::vector<base::Diagnostic> notes_of_kept_sizes(const Program& program);

}  // namespace sardonyx::program

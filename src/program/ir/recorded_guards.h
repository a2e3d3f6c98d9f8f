// The conditions on sizes that torch.export recorded in a program: what Python's branches and
// operators asked before the program came to us.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "program/ir/program.h"

namespace sardonyx::program {

// A warning (SX1015) with those that some sizes of at least 2 do not satisfy, where the shapes of
// the program's inputs do not show it. Sizes of 0 and 1 are in no record of torch.export's.
std::vector<base::Diagnostic> notes_of_recorded_guards(const Program& program);

}  // namespace sardonyx::program

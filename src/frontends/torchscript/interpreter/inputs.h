// The inputs of a program that is read: what the archive says of them, and the user.
#pragma once

#include <string>
#include <vector>

#include "frontends/torchscript/archive/archive.h"
#include "frontends/torchscript/torchscript.h"

namespace sardonyx::torchscript {

// One for each parameter of forward(), `self` left out; they become inputs of the program. Throws
// SX1122 where something is missing or does not fit.
std::vector<AbstractValue> make_inputs(Archive& archive, const ReadOptions& options,
                                       program::Program& program);

}  // namespace sardonyx::torchscript

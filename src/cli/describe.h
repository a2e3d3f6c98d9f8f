// What a captured program is, as JSON for scripts.
#pragma once

#include <string>

#include "program/ir/program.h"

namespace sardonyx::cli {

// An object: PyTorch's version, inputs and outputs under the names that a converted model gives
// them, weights in numbers, operators with how often they occur. Sizes are numbers, or text where
// they are symbolic.
std::string program_json(const program::Program& program);

}  // namespace sardonyx::cli

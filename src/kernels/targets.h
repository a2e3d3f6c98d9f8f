// The sets of instructions that kernels are compiled for: tests run each.
#pragma once

#include <functional>

namespace sardonyx::kernels {

// Calls run(name) with each set that this processor has chosen in its turn, then chooses as before.
// Not while other threads run kernels.
void for_each_target(const std::function<void(const char* name)>& run);

}  // namespace sardonyx::kernels

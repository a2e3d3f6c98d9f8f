// A translator of a plug-in that does what bytes say, through the C interface.
#pragma once

#include <cstddef>
#include <span>

#include "sardonyx/sardonyx.h"

namespace sardonyx::fuzz {

// Converts a program whose operators are translated by calls of sardonyx/plugin.h that
// `bytes` choose: arguments by right and wrong names, handles that are NULL, nodes that were not
// emitted, counts and types of any size. What C itself forbids (pointers to nothing, texts without
// an end, handles of another call) is not among them.
void play_plugin(std::span<const std::byte> bytes, Program program);

}  // namespace sardonyx::fuzz

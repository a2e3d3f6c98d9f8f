// Whether a weight lies inside of its bytes.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::program {

// Throws SX1108 where it reaches outside of its storage, or has sizes beyond 64 bits. A storage
// without bytes, as fake tensors are saved, loses its data.
void check_extent(const Weight& weight, Storage& storage);

}  // namespace sardonyx::program

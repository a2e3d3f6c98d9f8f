// The symbols of a captured program by the names that PyTorch gives them.
#pragma once

#include "symbolic/expr.h"

namespace sardonyx::program {

// torch.export numbers the sizes and numbers that depend on data u0, u1, ... and zuf0, zuf1, ...,
// and says it nowhere else. Front ends call this once, before users' names for sizes come in.
void mark_unbacked_symbols(symbolic::Pool& pool);

}  // namespace sardonyx::program

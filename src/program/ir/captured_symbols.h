// The symbols of a captured program by the names that PyTorch gives them.
#pragma once

#include <cstdint>
#include <string_view>

#include "symbolic/expr.h"

namespace sardonyx::program {

// torch.export numbers the sizes and numbers that depend on data u0, u1, ... and zuf0, zuf1, ...,
// and says it nowhere else. Front ends call this once, before users' names for sizes come in.
void mark_unbacked_symbols(symbolic::Pool& pool);

// What a size may be whose range a captured program gives, and which the user declared to be at
// least so much. torch.export gives every size of an input for which no Dim says otherwise 2 or
// more (Dim.AUTO, Dim.DYNAMIC), checks nothing of it, and people run the model with 1 and 0, too.
// So `max(n - 1, 1)` is not `n - 1`.
symbolic::Range range_at_run_time(std::string_view symbol, symbolic::Range captured,
                                  std::int64_t declared_least = 0);

}  // namespace sardonyx::program

// What was said of sizes, beside what is presumed of those of which nothing was.
#pragma once

#include "symbolic/expr.h"

namespace sardonyx::symbolic {

// Whether constraints on all symbols of e leave it at 0 or more, and 0 possible: whoever said so
// means sizes of 0. Of symbols without constraint 0 is only presumed.
bool is_allowed_to_be_zero(Expr e);

}  // namespace sardonyx::symbolic

// Positions in a dimension, which negative numbers count from its end.
#pragma once

#include "symbolic/expr.h"

namespace sardonyx::symbolic {

// `position` in a dimension of `size`, counted from its front; it is not held within the dimension.
Expr from_front(Expr position, Expr size);

// The same, held between 0 and `size`, as slices do.
Expr clamped_position(Expr position, Expr size);

}  // namespace sardonyx::symbolic

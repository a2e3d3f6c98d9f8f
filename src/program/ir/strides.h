// Strides of values, the same for every front end.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::program {

// Empties `value.strides` where they say no more than the shape does: the elements lie in row-major
// order without gaps. Dimensions of size 1 may have any stride; a tensor with a dimension of size 0
// is contiguous.
void drop_contiguous_strides(Value& value);

}  // namespace sardonyx::program

// Comparisons of sizes that were decided while a program was captured.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::program {

// PyTorch captures with sizes of 2 and more, and writes down what a comparison gives for these
// (`x.shape[0] > 0` is true), though the ranges may have 0 and 1. A `result` of the call that is
// such a constant becomes the comparison of its operands, which is decided by the ranges alone.
void restore_comparison(const Call& call, symbolic::Pool& pool, Value& result);

}  // namespace sardonyx::program

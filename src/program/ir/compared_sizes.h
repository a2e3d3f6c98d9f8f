// What PyTorch writes down of sizes and is not so for all of them.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::program {

// PyTorch captures with sizes of 2 and more, and writes down what a comparison gives for these
// (`x.shape[0] > 0` is true), though the ranges may have 0 and 1. A `result` of the call that is
// such a constant becomes the comparison of its operands, which is decided by the ranges alone.
void restore_comparison(const Call& call, symbolic::Pool& pool, Value& result);

// The same of `max(n, 1)`, which PyTorch writes down as n.
void restore_extremum(const Call& call, symbolic::Pool& pool, Value& result);

// PyTorch makes `n // 2 // -4` one quotient, `n // -8`, which rounds the other way, and all sizes
// that depend on it are wrong. Throws SX1205 for a call whose `result` is another number than the
// quotient of its operands.
void check_quotient(const Call& call, symbolic::Pool& pool, const Value& result);

}  // namespace sardonyx::program

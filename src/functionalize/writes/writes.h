// What an operator that writes to its arguments becomes.
#pragma once

#include <cstddef>
#include <vector>

#include "program/facts/facts.h"
#include "program/ir/program.h"

namespace sardonyx::functionalize {

using program::WriteKind;

struct WriteRule {
  WriteKind kind = WriteKind::kNone;
  const program::Schema* form = nullptr;  // that returns what this one writes
  std::vector<std::size_t> written;       // positions of the parameters that are written to
};

WriteRule write_rule(const program::Schema& schema);

// What the functional form of an in-place operator returns: PyTorch computes in the common type of
// the operands and then casts to that of the tensor written to.
base::DType result_dtype(const program::Schema& form, const program::Call& call,
                         const program::Value& self);

// What the functional form of an operator with out= returns, of which `out` is the destination.
base::DType out_dtype(const program::Schema& form, const program::Call& call, const WriteRule& rule,
                      const program::Value& out);

}  // namespace sardonyx::functionalize

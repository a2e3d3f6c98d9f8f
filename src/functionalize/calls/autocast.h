// The casts that autocast makes while a program runs, and that a captured body therefore lacks.
#pragma once

#include <unordered_set>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::functionalize {

struct Autocast {
  bool enabled = false;
  base::DType dtype = base::DType::kBFloat16;  // of matrix products and the like
  bool cuda = false;                           // the lists of operators differ between devices
};

// What holds in the body of `call`: that of wrap_with_autocast, or what holds around it.
Autocast autocast_of(const program::Call& call, const Autocast& around);

// What a marker of the program enters: (device type, dtype, enabled, cache enabled).
Autocast autocast_entered(const program::Call& call);

// Capture in strict mode records the bodies' results as if there were no autocast. These values
// have been given the dtype that they really have.
using Retyped = std::unordered_set<const program::Value*>;

// Appends to `calls` the casts of the arguments of `call` that autocast would make, and has the
// call read them. Corrects the dtypes of its results.
void insert_casts(program::Program& program, program::Call& call, const Autocast& autocast,
                  Retyped& retyped, std::vector<program::Call*>& calls);

}  // namespace sardonyx::functionalize

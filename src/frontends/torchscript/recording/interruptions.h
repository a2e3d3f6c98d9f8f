// What interrupts the code that is followed.
#pragma once

#include <string>

#include "frontends/torchscript/values/abstract_value.h"

namespace sardonyx::torchscript {

// A data-dependent branch leaves a tensor of one rank or of another.
struct RanksDiffer {
  AbstractValue condition;
};

// A size decides the rank of a tensor: the statement at this level of those that are followed, and
// what stands behind it, has to be followed for either answer.
struct SizeDecides {
  symbolic::Expr condition;
  std::size_t level;
};

// Thrown where something is left out because what it needs has failed, which is reported.
struct Failed {};

// The program raises an exception where the followed code stands.
struct Raised {
  std::string message;
};

}  // namespace sardonyx::torchscript

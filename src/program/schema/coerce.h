// Makes an argument of the type that a schema asks for.
#pragma once

#include <string>

#include "program/schema/argument.h"
#include "program/schema/schema.h"

namespace sardonyx::program {

// Converts `argument` in place as PyTorch's own argument parser would: a number fills int[2], an
// integer becomes a float or an enumerator where one is asked for. Returns an empty string, or what
// is wrong ("expected int[], got a string").
std::string coerce(const TypeSpec& type, Argument& argument);

// "int[2]?", "Tensor?[]": as schemas write it, without alias annotations.
std::string to_string(const TypeSpec& type);

// A short description of what an argument holds, for messages: "a list of 3", "the integer 4".
std::string describe(const Argument& argument);

}  // namespace sardonyx::program

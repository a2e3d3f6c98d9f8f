// Operators that Python knows, for readers of programs.
#pragma once

#include <nanobind/nanobind.h>

#include "program/results/asked.h"

namespace sardonyx::bindings {

// Of an object with the methods of sardonyx._capture.script.operators.Operators, which must outlive
// what is made of it.
program::OperatorSource operator_source(nanobind::handle operators);

}  // namespace sardonyx::bindings

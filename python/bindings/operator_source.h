// Operators that Python knows, for readers of programs.
#pragma once

#include <nanobind/nanobind.h>

#include "program/inference/sampled_results.h"

namespace sardonyx::bindings {

// Of an object with the methods of sardonyx._capture.torchscript.operators.Operators, which must
// outlive what is made of it.
program::OperatorSource operator_source(nanobind::handle operators);

}  // namespace sardonyx::bindings

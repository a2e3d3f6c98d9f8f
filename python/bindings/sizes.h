// Sizes as Python has them.
#pragma once

#include <nanobind/nanobind.h>

#include <span>

#include "symbolic/expr.h"

namespace sardonyx::bindings {

// Numbers, text for sizes that vary, and None for those of which nothing is known.
nanobind::list sizes_of(std::span<const symbolic::Expr> shape);

}  // namespace sardonyx::bindings

// Sizes as Python has them.
#pragma once

#include <nanobind/nanobind.h>

#include <span>

#include "symbolic/expr.h"

namespace sardonyx::bindings {

// Numbers, text for dynamic dimensions, and None for unknown ones.
nanobind::list sizes_of(std::span<const symbolic::Expr> shape);

}  // namespace sardonyx::bindings

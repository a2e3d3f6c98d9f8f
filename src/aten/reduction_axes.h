// The axes that a reduction works on, as PyTorch's arguments say them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

// The argument's axes made non-negative; all axes when it is None or an empty list (or when the
// overload has no such argument).
std::vector<std::int64_t> reduction_axes(const Call& call, Value x, std::string_view name = "dim");

// keepdim where the overload has it.
bool keeps_dims(const Call& call);

// Elements of the axes, as an expression.
Expr reduced_count(Value x, const std::vector<std::int64_t>& axes);

}  // namespace sardonyx::aten

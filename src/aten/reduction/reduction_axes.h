// The axes that a reduction works on, as PyTorch's arguments say them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

// What is reduced: `self`, or `inp` of PyTorch's primitives.
Value reduced_tensor(const Call& call);

// The axes in `dim` (`dims` of PyTorch's primitives) made non-negative; all axes when it is None or
// an empty list, or when the overload has no such argument.
std::vector<std::int64_t> reduction_axes(const Call& call, Value x);

// keepdim where the overload has it.
bool keeps_dims(const Call& call);

// Elements of the axes, as an expression.
Expr reduced_count(Value x, const std::vector<std::int64_t>& axes);

// The same as a scalar int64; read off `x` at run time where no expression says it.
Value count_of_reduced(Emit& onnx, Value x, const std::vector<std::int64_t>& axes);

// ReduceMax or ReduceMin (`op`) over the axes, NaN where any element is: ONNX does not say what
// they make of one.
Value extreme_over(Emit& onnx, std::string_view op, Value x, const std::vector<std::int64_t>& axes,
                   bool keep_dims);

// The mean over the axes, NaN where there is nothing, of which ONNX's mean is undefined.
Value mean_over(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep_dims);

}  // namespace sardonyx::aten

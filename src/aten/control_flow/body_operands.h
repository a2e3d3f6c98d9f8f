// What a body of control flow is given, and what it carries from one run to the next.
#pragma once

#include <string_view>

#include "aten/body.h"
#include "aten/call.h"

namespace sardonyx::aten {

// The operands in a list argument, in order: tensors, and symbolic scalars as 0-d ones.
onnx::Values body_operands(const Call& call, Emit& onnx, std::string_view name);
Value body_operand(const Call& call, Emit& onnx, const program::Argument& argument);

onnx::Values joined(onnx::Values first, const onnx::Values& second);

// Inputs of the ONNX body that is being made, for the body's inputs from `first` on, which are
// given `initial` the first time.
onnx::Values carried_inputs(Emit& onnx, const program::Graph& graph, const onnx::Values& initial,
                            std::size_t first = 0);
// What a body returns for what it carries; the dtype stays from one run to the next.
onnx::Values as_carried(Emit& onnx, const onnx::Values& results, const onnx::Values& initial);

// Results that are complex numbers are marked as such; a node cannot tell.
Outputs with_complex_marked(const Call& call, Outputs outputs);

}  // namespace sardonyx::aten

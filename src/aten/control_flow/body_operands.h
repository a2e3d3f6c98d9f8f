// What a body of control flow is given, and what it carries from one run to the next.
#pragma once

#include "aten/body.h"
#include "aten/call.h"
#include "program/ir/regions.h"

namespace sardonyx::aten {

// The region of a call whose row is one of control flow; SX1204 where its bodies are no graphs.
program::Region region_of(const Call& call);
// The operands in a list of the region, in order: tensors, and symbolic scalars as 0-d ones.
onnx::Values body_operands(const Call& call, Emit& onnx, const program::List* list);
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

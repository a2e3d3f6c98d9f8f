// Whether an input and an output of a model may be one buffer.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Whether a runtime may write `output` of the main graph, which is as large as `input` of it, over
// the input's memory: all that reads the input has run by then, in any order that the graph allows,
// or it is what makes the output, element by element.
bool may_share_memory(const ValueInfo& input, const ValueInfo& output);

// Has it so for a state [rows, ...] whose other sizes are constants: where something reads `input`
// that need not run before `output` is made, a copy of it that waits for that is returned instead.
// The copy's size is computed of the readers' results. Nothing changes where none of a reader's
// results has as many rows, a dynamic number.
void write_after_readers(Model& model, const ValueInfo& input, ValueInfo& output);

}  // namespace sardonyx::onnx

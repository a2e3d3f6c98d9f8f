// State: what a program leaves in the attributes of its modules, which the next call sees.
#pragma once

#include "frontends/torchscript/recording/graph_recorder.h"

namespace sardonyx::torchscript {

// Tensors in buffers and other attributes become outputs, named after these, and the initial values
// are initializers. Anything else has no place in a model, which is reported (SX1215).
void add_state(GraphRecorder& recorder);

}  // namespace sardonyx::torchscript

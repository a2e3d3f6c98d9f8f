// Rewrites mutation and view aliasing into pure calls, once, for every front end.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::functionalize {

// Afterwards no call of the program writes to its arguments, and every read of a value sees what
// the writes before it left there. Buffers and inputs that the program mutates are further outputs
// (OutputKind::kBufferMutation, kInputMutation). Collects every write that cannot be expressed and
// throws them together (SX17xx), each with the line of the view and of the write.
void functionalize(program::Program& program);

}  // namespace sardonyx::functionalize

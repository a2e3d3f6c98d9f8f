// Captured calls as torch.fx prints its nodes: what tools show beside an ONNX node.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::program {

// Fills node_texts for every call, those of bodies included:
// "%linear : [num_users=1] = call_function[target=torch.ops.aten.linear.default](args = (%x, %p_w),
// kwargs = {})". Before functionalization, which changes calls.
void record_node_texts(Program& program);

}  // namespace sardonyx::program

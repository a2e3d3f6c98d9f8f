// The versions of opsets 11 and 12, which third-party models have and keep.
#pragma once

#include <optional>
#include <vector>

#include "targets/lowering.h"

namespace sardonyx::targets {

// Whether operators of such an opset are said in another way than from 13 on.
bool changes_before_13(const onnx::Operator& op);

// From the form of opset 13: inputs and attributes are changed, or other nodes are emitted, whose
// values this returns. Throws SX1504 for what these opsets cannot say.
std::optional<Values> downgraded_before_13(Lowering& onnx, const onnx::Operator& op, Values& inputs,
                                           std::vector<Attribute>& attributes);

}  // namespace sardonyx::targets

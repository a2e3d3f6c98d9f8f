// The newest form of an operator turned into the one that the target opset has.
#pragma once

#include <optional>
#include <vector>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// Changes inputs and attributes to the target's form, or emits other nodes and returns their
// values. What cannot be expressed is left as it is: the check against the operator's table names
// it. Throws SX1504 where a form exists but not for these arguments.
std::optional<Values> in_target_form(Emit& onnx, const Operator& op, Values& inputs,
                                     std::vector<Attribute>& attributes, std::size_t outputs);

// An operator that came after the target opset, by those that were there before; nothing when it
// has no such form.
std::optional<Values> spelled_out(Emit& onnx, const Operator& op, const Values& inputs,
                                  const std::vector<Attribute>& attributes, std::size_t outputs);

}  // namespace sardonyx::onnx

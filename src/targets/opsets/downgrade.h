// Turns an operator of the newest opset into its version of the target's opset.
#pragma once

#include <optional>
#include <vector>

#include "targets/lowering.h"

namespace sardonyx::targets {

// Changes inputs and attributes to the older form, or emits other nodes and returns their values: a
// composite that came later by its definition. What cannot be expressed is left as it is: the check
// against the operator's table names it. Throws SX1504 where a form exists but not for these
// arguments.
std::optional<Values> in_older_form(Lowering& onnx, const onnx::Operator& op, Values& inputs,
                                    std::vector<Attribute>& attributes, std::size_t outputs);

// Whether the operator's form at `opset`, which has it, may differ from the newest in more than the
// inputs and attributes that it has not.
bool changes_form(const onnx::Operator& op, std::int64_t opset);

}  // namespace sardonyx::targets

// Operators in the form of an older opset, brought to that of the newest one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// Changes inputs and attributes from the form that `opset` has to the newest, or emits other nodes
// and returns their values. Operators whose form never changed are left as they are. Throws SX1504
// for forms that the newest opset cannot say.
std::optional<Values> in_newest_form(Emit& onnx, const Operator& op, std::int64_t opset,
                                     Values& inputs, std::vector<Attribute>& attributes,
                                     std::size_t outputs);

// Whether the operator's form at `opset` may differ from the newest in more than its types.
bool has_older_form(const Operator& op, std::int64_t opset);

}  // namespace sardonyx::onnx

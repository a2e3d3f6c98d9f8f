// The forms of opsets 9 and 10, which many files of older converters have.
#pragma once

#include <optional>
#include <vector>

#include "targets/lowering.h"

namespace sardonyx::targets {

// The first opset that models are brought to.
inline constexpr std::int64_t kOldestForms = 9;

bool changes_form_before_11(const onnx::Operator& op);

// From the form of opset 11 to that of the target's, which is older.
std::optional<Values> in_form_before_11(Lowering& onnx, const onnx::Operator& op, Values& inputs,
                                        std::vector<Attribute>& attributes);

}  // namespace sardonyx::targets

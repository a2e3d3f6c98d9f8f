#pragma once

#include <optional>

#include "onnx/definitions/definitions.h"

namespace sardonyx::onnx {

// Opset 26. CumProd, whose axis must be known.
std::optional<Values> running_product(const Composite& call);

}  // namespace sardonyx::onnx

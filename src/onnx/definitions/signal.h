// The definitions of operators on signals.
#pragma once

#include <optional>

#include "onnx/definitions/definitions.h"

namespace sardonyx::onnx {

std::optional<Values> spelled_out_dft(const Composite& call);
Value spelled_out_hann_window(const Composite& call);
Value spelled_out_hamming_window(const Composite& call);
Value spelled_out_blackman_window(const Composite& call);

}  // namespace sardonyx::onnx

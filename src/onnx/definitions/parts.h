// The definitions, a function each; definitions.cpp puts them together.
#pragma once

#include <optional>

#include "onnx/definitions/definitions.h"
#include "onnx/emit/emit_state.h"

namespace sardonyx::onnx {

// A float attribute as the program had it: the double of the shortest digits that it prints as.
double as_written(float value);

std::optional<Values> attention(const Composite& call);
std::optional<Values> bit_shift(const Composite& call);
std::optional<Values> causal_convolution(const Composite& call);
std::optional<Values> dequantize_linear(const Composite& call);
std::optional<Values> linear_attention(const Composite& call);
std::optional<Values> quantize_linear(const Composite& call);
std::optional<Values> rotary_embedding(const Composite& call);
// LSTM, GRU and RNN as loops.
std::optional<Values> recurrent(const Composite& call, const Operator& op);

}  // namespace sardonyx::onnx

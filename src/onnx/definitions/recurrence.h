// Recurrent layers decomposed into loops.
#pragma once

#include <functional>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// The weights of one layer in one direction, as PyTorch stacks the gates. Biases and projection may
// be absent.
struct RecurrentWeights {
  Value input, hidden, input_bias, hidden_bias, projection;
};

// The next states of a cell from what its gates get from the input and from the hidden state, both
// [batch, gates * hidden], and from the states now. The hidden state is the first.
using CellStep =
    std::function<Values(Emit&, Value from_input, Value from_hidden, const Values& states)>;

// What the gates get from x, [..., gates * hidden]: x weight^T + bias, which may be absent.
Value gates_of(Emit& onnx, Value x, Value weight, Value bias);

// The hidden state at each time [time, batch, hidden], then the final states [batch, hidden], of
// the sequence x [time, batch, input] read from its first or from its last element on.
Values recurrence(Emit& onnx, Value x, const RecurrentWeights& weights, const Values& states,
                  bool backwards, const CellStep& step);

// What decides a step besides the cell.
struct RecurrentGates {
  Value from_input;  // [time, batch, gates * hidden]
  std::function<Value(Value hidden)> from_hidden;
  Value projection{};  // of the hidden state that a cell gives; may be absent
  // bool [time, batch, 1]: which sequences have such a step. The states of others stay what they
  // are, and from_hidden() is given 0 for them. Absent where all have.
  Value present{};
};

Values recurrence(Emit& onnx, const RecurrentGates& gates, const Values& states, bool backwards,
                  const CellStep& step);

// PyTorch's cells.
Values lstm_step(Emit& onnx, Value from_input, Value from_hidden, const Values& states);
Values gru_step(Emit& onnx, Value from_input, Value from_hidden, const Values& states);
CellStep plain_step(bool rectified);  // relu, else tanh

}  // namespace sardonyx::onnx

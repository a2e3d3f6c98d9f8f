// Cells of recurrent networks, whatever multiplies their inputs.
#pragma once

#include "aten/call.h"
#include "onnx/definitions/recurrence.h"

namespace sardonyx::aten {

// What a cell's gates are made of.
struct CellProducts {
  Value from_input, from_hidden;
};

// One step of each kind of cell, as operators give it.
template <CellProducts (*products)(const Call& call, Emit& onnx, Value hidden)>
struct Cells {
  static Outputs lstm(const Call& call, Emit& onnx) {
    return stepped(call, onnx, call.tensors("hx"), onnx::lstm_step);
  }
  static Outputs gru(const Call& call, Emit& onnx) {
    return stepped(call, onnx, {call.tensor("hx")}, onnx::gru_step);
  }
  static Outputs rnn_tanh(const Call& call, Emit& onnx) {
    return stepped(call, onnx, {call.tensor("hx")}, onnx::plain_step(/*rectified=*/false));
  }
  static Outputs rnn_relu(const Call& call, Emit& onnx) {
    return stepped(call, onnx, {call.tensor("hx")}, onnx::plain_step(/*rectified=*/true));
  }

 private:
  static Outputs stepped(const Call& call, Emit& onnx, const onnx::Values& states,
                         const onnx::CellStep& step) {
    const CellProducts given = products(call, onnx, states.front());
    return step(onnx, given.from_input, given.from_hidden, states);
  }
};

}  // namespace sardonyx::aten

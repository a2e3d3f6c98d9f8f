// One step of LSTM, GRU and plain recurrent networks, spelled out.
#include "aten/families.h"
#include "aten/networks/recurrence.h"

namespace sardonyx::aten {
namespace {

onnx::Values stepped(const Call& call, Emit& onnx, const onnx::Values& states,
                     const CellStep& step) {
  const Value from_input =
      gates_of(onnx, call.tensor("input"), call.tensor("w_ih"), call.optional_tensor("b_ih"));
  const Value from_hidden =
      gates_of(onnx, states.front(), call.tensor("w_hh"), call.optional_tensor("b_hh"));
  return step(onnx, from_input, from_hidden, states);
}

Outputs lstm_cell(const Call& call, Emit& onnx) {
  return stepped(call, onnx, call.tensors("hx"), lstm_step);
}

Outputs gru_cell(const Call& call, Emit& onnx) {
  return stepped(call, onnx, {call.tensor("hx")}, gru_step);
}

Outputs rnn_tanh_cell(const Call& call, Emit& onnx) {
  return stepped(call, onnx, {call.tensor("hx")}, plain_step(/*rectified=*/false));
}

Outputs rnn_relu_cell(const Call& call, Emit& onnx) {
  return stepped(call, onnx, {call.tensor("hx")}, plain_step(/*rectified=*/true));
}

constexpr Row kRows[] = {
    {"aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
     "b_hh=None) -> Tensor",
     gru_cell},
    {"aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
     "Tensor? b_hh=None) -> (Tensor, Tensor)",
     lstm_cell},
    {"aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
     "Tensor? b_hh=None) -> Tensor",
     rnn_relu_cell},
    {"aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
     "Tensor? b_hh=None) -> Tensor",
     rnn_tanh_cell},
};

}  // namespace

std::span<const Row> recurrent_cell_rows() { return kRows; }

}  // namespace sardonyx::aten

// One step of LSTM, GRU and plain recurrent networks, decomposed.
#include "aten/networks/recurrent_cells.h"

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

CellProducts products(const Call& call, Emit& onnx, Value hidden) {
  const Value from_input =
      onnx::gates_of(onnx, call.tensor("input"), call.tensor("w_ih"), call.optional_tensor("b_ih"));
  const Value from_hidden =
      onnx::gates_of(onnx, hidden, call.tensor("w_hh"), call.optional_tensor("b_hh"));
  return {from_input, from_hidden};
}

using Plain = Cells<products>;

constexpr Row kRows[] = {
    {"aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
     "b_hh=None) -> Tensor",
     Plain::gru},
    {"aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
     "Tensor? b_hh=None) -> (Tensor, Tensor)",
     Plain::lstm},
    {"aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
     "Tensor? b_hh=None) -> Tensor",
     Plain::rnn_relu},
    {"aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
     "Tensor? b_hh=None) -> Tensor",
     Plain::rnn_tanh},
};

}  // namespace

std::span<const Row> recurrent_cell_rows() { return kRows; }

}  // namespace sardonyx::aten

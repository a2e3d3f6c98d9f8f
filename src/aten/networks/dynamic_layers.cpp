// Layers whose weights are quantized and whose inputs are, by what they hold: Linear, and recurrent
// networks and cells.
#include "aten/families.h"
#include "aten/networks/recurrent_cells.h"
#include "aten/networks/recurrent_layers.h"
#include "aten/quantization/dynamic_products.h"

namespace sardonyx::aten {
namespace {

using onnx::CellStep;
using onnx::gru_step;
using onnx::lstm_step;
using onnx::recurrence;

// `params`: weight, scale, zero point and bias that the input is multiplied by, then those of the
// hidden state, for each layer and direction.
constexpr std::size_t kOfOne = 4;

QuantizedWeight weight_at(const std::vector<Value>& params, std::size_t i) {
  const std::size_t first = i * kOfOne;
  return {params.at(first), params.at(first + 1), params.at(first + 2), params.at(first + 3)};
}

Outputs linear(const Call& call, Emit& onnx) {
  const QuantizedWeight packed{call.tensor("weight"), call.tensor("scale"),
                               call.tensor("zero_point"), call.optional_tensor("bias")};
  return {dynamic_product(onnx, call.tensor("input"), packed, call.flag("reduce_range"))};
}

// [time, batch, 1]: which sequences have such a step.
Value presence(Emit& onnx, Value x, Value lengths) {
  const Value time = onnx.range(onnx.int_scalar(0), onnx.dim_of(x, 0), onnx.int_scalar(1));
  const Value present = onnx.less(onnx.unsqueeze(time, {1}), onnx.unsqueeze(lengths, {0}));
  return onnx.unsqueeze(present, {2});
}

// The input of a layer is quantized as a whole, the hidden state at each step.
Outputs network(const Call& call, Emit& onnx, const std::vector<Value>& states,
                const CellStep& step) {
  const RecurrentNetwork network = recurrent_network(call, onnx);
  const std::vector<Value> params = call.optional_tensors("params");
  const bool reduce_range = call.flag("reduce_range");
  const auto run = [&](Value x, std::int64_t layer, const onnx::Values& initial) {
    Value present;
    if (network.lengths) {
      present = presence(onnx, x, network.lengths);
      x = onnx.where(present, x, onnx.zero(x.dtype()));
    }
    return run_directions(
        onnx, network, initial, [&](std::int64_t direction, const onnx::Values& own) {
          const auto unit = static_cast<std::size_t>(layer * network.directions() + direction);
          const QuantizedWeight input = weight_at(params, 2 * unit);
          const QuantizedWeight hidden = weight_at(params, 2 * unit + 1);
          onnx::RecurrentGates gates;
          gates.from_input = dynamic_product(onnx, x, input, reduce_range);
          gates.from_hidden = [&](Value state) {
            return dynamic_product(onnx, state, hidden, reduce_range);
          };
          gates.present = present;
          return recurrence(onnx, gates, own, direction == 1, step);
        });
  };
  return run_layers(call, onnx, network, initial_states(onnx, network, states), run);
}

Outputs lstm(const Call& call, Emit& onnx) {
  return network(call, onnx, call.tensors("hx"), lstm_step);
}

Outputs gru(const Call& call, Emit& onnx) {
  return network(call, onnx, {call.tensor("hx")}, gru_step);
}

CellProducts cell_products(const Call& call, Emit& onnx, Value hidden) {
  const std::vector<Value> params = call.optional_tensors("params");
  const bool reduce_range = call.flag("reduce_range");
  const Value from_input =
      dynamic_product(onnx, call.tensor("input"), weight_at(params, 0), reduce_range);
  const Value from_hidden = dynamic_product(onnx, hidden, weight_at(params, 1), reduce_range);
  return {from_input, from_hidden};
}

using Quantized = Cells<cell_products>;

constexpr Row kRows[] = {
    {"packed::gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor?[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool "
     "reduce_range) -> (Tensor, Tensor)",
     gru},
    {"packed::gru.input(Tensor input, Tensor hx, Tensor?[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first, bool "
     "reduce_range) -> (Tensor, Tensor)",
     gru},
    {"packed::gru_cell(Tensor input, Tensor hx, Tensor?[] params, bool reduce_range) -> Tensor",
     Quantized::gru},
    {"packed::linear(Tensor input, Tensor weight, Tensor scale, Tensor zero_point, Tensor? bias, "
     "bool reduce_range) -> Tensor",
     linear},
    {"packed::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor?[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool "
     "reduce_range) -> (Tensor, Tensor, Tensor)",
     lstm},
    {"packed::lstm.input(Tensor input, Tensor[] hx, Tensor?[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first, bool "
     "reduce_range) -> (Tensor, Tensor, Tensor)",
     lstm},
    {"packed::lstm_cell(Tensor input, Tensor[] hx, Tensor?[] params, bool reduce_range) -> "
     "(Tensor, Tensor)",
     Quantized::lstm},
    {"packed::rnn_relu_cell(Tensor input, Tensor hx, Tensor?[] params, bool reduce_range) -> "
     "Tensor",
     Quantized::rnn_relu},
    {"packed::rnn_tanh_cell(Tensor input, Tensor hx, Tensor?[] params, bool reduce_range) -> "
     "Tensor",
     Quantized::rnn_tanh},
};

}  // namespace

std::span<const Row> dynamic_layer_rows() { return kRows; }

}  // namespace sardonyx::aten

// LSTM, GRU and plain recurrent networks over whole sequences, to ONNX's recurrent operators.
#include "aten/families.h"
#include "aten/networks/recurrent_layers.h"
#include "onnx/definitions/recurrence.h"

namespace sardonyx::aten {
namespace {

using onnx::CellStep;
using onnx::gru_step;
using onnx::lstm_step;
using onnx::plain_step;
using onnx::recurrence;
using onnx::RecurrentWeights;

// How ONNX orders the gates that PyTorch stacks: the position in PyTorch's order.
using GateOrder = std::vector<std::int64_t>;
const GateOrder kLstmGates = {0, 3, 1, 2};  // i, f, g, o -> i, o, f, c
const GateOrder kGruGates = {1, 0, 2};      // r, z, n -> z, r, h
const GateOrder kPlainGates = {0};

struct Network : RecurrentNetwork {
  std::vector<Value> parameters;
  bool projected = false;  // an LSTM's hidden state is a linear map of what its cells give
};

Network network_of(const Call& call, Emit& onnx) {
  Network network{recurrent_network(call, onnx), call.tensors("params")};
  const std::int64_t each = network.biases ? 4 : 2, units = network.layers * network.directions();
  network.projected = static_cast<std::int64_t>(network.parameters.size()) == units * (each + 1);
  if (network.projected && network.lengths) call.refuse("packed sequences of projected states");
  return network;
}

RecurrentWeights weights_at(const Network& network, std::int64_t layer, std::int64_t direction) {
  const std::size_t plain = network.biases ? 4 : 2, each = network.projected ? plain + 1 : plain;
  const std::size_t first =
      static_cast<std::size_t>(layer * network.directions() + direction) * each;
  const auto at = [&](std::size_t i) { return network.parameters.at(first + i); };
  return {at(0), at(1), network.biases ? at(2) : Value{}, network.biases ? at(3) : Value{},
          network.projected ? at(plain) : Value{}};
}

Value reordered(Emit& onnx, Value stacked, const GateOrder& order) {
  if (order.size() == 1) return stacked;
  const Expr size =
      symbolic::exact_quotient(stacked.dim(0), static_cast<std::int64_t>(order.size()));
  std::vector<Value> gates;
  for (const std::int64_t gate : order) {
    gates.push_back(onnx.slice(stacked, 0, size * gate, size * (gate + 1)));
  }
  return onnx.concat(gates, 0);
}

// One operator's W, R and B: directions in front.
struct Stacked {
  Value w, r, b;
};

Stacked stacked_weights(Emit& onnx, const Network& network, std::int64_t layer,
                        const GateOrder& order) {
  std::vector<Value> ws, rs, bs;
  for (std::int64_t direction = 0; direction < network.directions(); ++direction) {
    const RecurrentWeights weights = weights_at(network, layer, direction);
    ws.push_back(onnx.unsqueeze(reordered(onnx, weights.input, order), {0}));
    rs.push_back(onnx.unsqueeze(reordered(onnx, weights.hidden, order), {0}));
    if (!network.biases) continue;
    const Value both = onnx.concat(
        {reordered(onnx, weights.input_bias, order), reordered(onnx, weights.hidden_bias, order)},
        0);
    bs.push_back(onnx.unsqueeze(both, {0}));
  }
  const auto joined = [&](const std::vector<Value>& parts) {
    return parts.size() == 1 ? parts.front() : onnx.concat(parts, 0);
  };
  return {joined(ws), joined(rs), bs.empty() ? Value{} : joined(bs)};
}

std::string_view direction_name(const Network& network) {
  return network.bidirectional ? "bidirectional" : "forward";
}

// The layers, of which `run` emits one as an operator; as a loop of `step` where no operator does.
Outputs layers_of(const Call& call, Emit& onnx, const Network& network,
                  const std::vector<Value>& given, const CellStep& step, const RunLayer& run) {
  const onnx::Values initial = initial_states(onnx, network, given);
  if (!network.projected) return run_layers(call, onnx, network, initial, run);
  return run_layers(
      call, onnx, network, initial, [&](Value x, std::int64_t layer, const onnx::Values& states) {
        return run_directions(onnx, network, states,
                              [&](std::int64_t direction, const onnx::Values& own) {
                                return recurrence(onnx, x, weights_at(network, layer, direction),
                                                  own, direction == 1, step);
                              });
      });
}

// As ONNX's operators take them; absent where all sequences are whole.
Value steps(Emit& onnx, const Network& network) {
  return network.lengths ? onnx.cast(network.lengths, DType::kInt32) : Value();
}

Outputs lstm(const Call& call, Emit& onnx) {
  const Network network = network_of(call, onnx);
  const Value lengths = steps(onnx, network);
  return layers_of(
      call, onnx, network, call.tensors("hx"), lstm_step,
      [&](Value x, std::int64_t layer, const onnx::Values& states) -> onnx::Values {
        const Stacked weights = stacked_weights(onnx, network, layer, kLstmGates);
        return onnx.lstm_n(
            3, x, weights.w, weights.r, weights.b, lengths, states[0], states[1], {},
            {.direction = direction_name(network), .hidden_size = states[0].dim(-1).value()});
      });
}

Outputs gru(const Call& call, Emit& onnx) {
  const Network network = network_of(call, onnx);
  const Value lengths = steps(onnx, network);
  return layers_of(call, onnx, network, {call.tensor("hx")}, gru_step,
                   [&](Value x, std::int64_t layer, const onnx::Values& states) -> onnx::Values {
                     const Stacked weights = stacked_weights(onnx, network, layer, kGruGates);
                     return onnx.gru_n(2, x, weights.w, weights.r, weights.b, lengths, states[0],
                                       {.direction = direction_name(network),
                                        .hidden_size = states[0].dim(-1).value(),
                                        .linear_before_reset = 1});
                   });
}

Outputs plain(const Call& call, Emit& onnx, bool rectified) {
  const Network network = network_of(call, onnx);
  const std::vector<std::string> activations(static_cast<std::size_t>(network.directions()),
                                             rectified ? "Relu" : "Tanh");
  const Value lengths = steps(onnx, network);
  return layers_of(call, onnx, network, {call.tensor("hx")}, plain_step(rectified),
                   [&](Value x, std::int64_t layer, const onnx::Values& states) -> onnx::Values {
                     const Stacked weights = stacked_weights(onnx, network, layer, kPlainGates);
                     return onnx.rnn_n(2, x, weights.w, weights.r, weights.b, lengths, states[0],
                                       {.activations = activations,
                                        .direction = direction_name(network),
                                        .hidden_size = states[0].dim(-1).value()});
                   });
}

Outputs rnn_tanh(const Call& call, Emit& onnx) { return plain(call, onnx, false); }
Outputs rnn_relu(const Call& call, Emit& onnx) { return plain(call, onnx, true); }

constexpr Row kRows[] = {
    {"aten::gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, "
     "int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
     gru},
    {"aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
     "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
     gru},
    {"aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, "
     "Tensor, Tensor)",
     lstm},
    {"aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int "
     "num_layers, "
     "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
     lstm},
    {"aten::rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, "
     "Tensor)",
     rnn_relu},
    {"aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
     "Tensor)",
     rnn_relu},
    {"aten::rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool "
     "has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, "
     "Tensor)",
     rnn_tanh},
    {"aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
     "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, "
     "Tensor)",
     rnn_tanh},
};

}  // namespace

std::span<const Row> recurrent_rows() { return kRows; }

}  // namespace sardonyx::aten

// LSTM, GRU and plain recurrent networks over whole sequences, to ONNX's recurrent operators.
#include "aten/families.h"
#include "aten/networks/packed_sequences.h"
#include "aten/random/dropout.h"
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

struct Network {
  bool biases, bidirectional, batch_first, unbatched;
  std::int64_t layers;
  std::vector<Value> parameters;
  Value input{};
  Value lengths{};         // of packed sequences
  bool projected = false;  // an LSTM's hidden state is a linear map of what its cells give

  std::int64_t directions() const { return bidirectional ? 2 : 1; }
};

Network network_of(const Call& call, Emit& onnx) {
  Network network{call.flag("has_biases"),    call.flag("bidirectional"), false, false,
                  call.integer("num_layers"), call.tensors("params")};
  if (call.captured().schema->overload == "data") {
    const Padded sequences = padded(call, onnx);
    network.input = sequences.values;
    network.lengths = sequences.lengths;
  } else {
    network.input = call.tensor("input");
    network.batch_first = call.flag("batch_first");
    network.unbatched = network.input.rank() == 2;
  }
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

// The states of one layer out of [layers * directions, batch, hidden].
Value layer_state(Emit& onnx, const Network& network, Value states, std::int64_t layer) {
  if (network.layers == 1) return states;
  const std::int64_t count = network.directions();
  return onnx.slice(states, 0, layer * count, (layer + 1) * count);
}

// [time, directions, batch, hidden] -> [time, batch, directions * hidden]
Value merged_directions(Emit& onnx, const Network& network, Value y) {
  if (!network.bidirectional) return onnx.squeeze(y, {1});
  const Value by_batch = onnx.transpose(y, {0, 2, 1, 3});
  return onnx.reshape(by_batch,
                      {by_batch.dim(0), by_batch.dim(1), by_batch.dim(2) * by_batch.dim(3)});
}

Value to_time_first(Emit& onnx, const Network& network, Value input) {
  if (network.unbatched) return onnx.unsqueeze(input, {1});
  return network.batch_first ? onnx.transpose(input, {1, 0, 2}) : input;
}

Value from_time_first(Emit& onnx, const Network& network, Value output) {
  if (network.unbatched) return onnx.squeeze(output, {1});
  return network.batch_first ? onnx.transpose(output, {1, 0, 2}) : output;
}

std::string_view direction_name(const Network& network) {
  return network.bidirectional ? "bidirectional" : "forward";
}

// One layer of `step`, as its operator would give it: [time, directions, batch, hidden], then the
// final states [directions, batch, hidden].
onnx::Values looped(Emit& onnx, const Network& network, Value x, std::int64_t layer,
                    const onnx::Values& states, const CellStep& step) {
  std::vector<onnx::Values> parts(states.size() + 1);
  for (std::int64_t direction = 0; direction < network.directions(); ++direction) {
    onnx::Values initial;
    for (const Value state : states) initial.push_back(onnx.select(state, 0, direction));
    const onnx::Values found =
        recurrence(onnx, x, weights_at(network, layer, direction), initial, direction == 1, step);
    parts[0].push_back(onnx.unsqueeze(found[0], {1}));
    for (std::size_t i = 1; i < found.size(); ++i)
      parts[i].push_back(onnx.unsqueeze(found[i], {0}));
  }
  onnx::Values results;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    results.push_back(parts[i].size() == 1 ? parts[i].front()
                                           : onnx.concat(parts[i], i == 0 ? 1 : 0));
  }
  return results;
}

// Runs the layers one after the other. `run` emits one, given its states, and returns Y, Y_h (and
// Y_c); where no operator does, it is a loop of `step`.
template <class Run>
Outputs run_layers(const Call& call, Emit& onnx, const Network& network,
                   const onnx::Values& initial, const CellStep& step, const Run& run) {
  const std::size_t states = initial.size();
  Value x = to_time_first(onnx, network, network.input);
  std::vector<std::vector<Value>> finals(states);
  const double dropout = call.flag("train") ? call.number("dropout") : 0;
  for (std::int64_t layer = 0; layer < network.layers; ++layer) {
    if (layer > 0) x = dropped(onnx, x, dropout);
    onnx::Values own;
    for (const Value state : initial) own.push_back(layer_state(onnx, network, state, layer));
    const onnx::Values found =
        network.projected ? looped(onnx, network, x, layer, own, step) : run(x, layer, own);
    x = merged_directions(onnx, network, found[0]);
    for (std::size_t i = 0; i < states; ++i) finals[i].push_back(found[1 + i]);
  }
  Outputs outputs = {network.lengths ? packed(call, onnx, {x, network.lengths})
                                     : from_time_first(onnx, network, x)};
  for (const std::vector<Value>& parts : finals) {
    const Value all = parts.size() == 1 ? parts.front() : onnx.concat(parts, 0);
    outputs.push_back(network.unbatched ? onnx.squeeze(all, {1}) : all);
  }
  return outputs;
}

Value batched_state(Emit& onnx, const Network& network, Value state) {
  return network.unbatched ? onnx.unsqueeze(state, {1}) : state;
}

// As ONNX's operators take them; absent where all sequences are whole.
Value steps(Emit& onnx, const Network& network) {
  return network.lengths ? onnx.cast(network.lengths, DType::kInt32) : Value();
}

Outputs lstm(const Call& call, Emit& onnx) {
  const Network network = network_of(call, onnx);
  const std::vector<Value> given = call.tensors("hx");
  const onnx::Values initial = {batched_state(onnx, network, given.at(0)),
                                batched_state(onnx, network, given.at(1))};
  const Value lengths = steps(onnx, network);
  return run_layers(
      call, onnx, network, initial, lstm_step,
      [&](Value x, std::int64_t layer, const onnx::Values& states) -> onnx::Values {
        const Stacked weights = stacked_weights(onnx, network, layer, kLstmGates);
        return onnx.lstm_n(
            3, x, weights.w, weights.r, weights.b, lengths, states[0], states[1], {},
            {.direction = direction_name(network), .hidden_size = states[0].dim(-1).value()});
      });
}

Outputs gru(const Call& call, Emit& onnx) {
  const Network network = network_of(call, onnx);
  const onnx::Values initial = {batched_state(onnx, network, call.tensor("hx"))};
  const Value lengths = steps(onnx, network);
  return run_layers(call, onnx, network, initial, gru_step,
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
  const onnx::Values initial = {batched_state(onnx, network, call.tensor("hx"))};
  const std::vector<std::string> activations(static_cast<std::size_t>(network.directions()),
                                             rectified ? "Relu" : "Tanh");
  const Value lengths = steps(onnx, network);
  return run_layers(call, onnx, network, initial, plain_step(rectified),
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

#include "aten/networks/recurrent_layers.h"

#include "aten/networks/packed_sequences.h"
#include "aten/random/dropout.h"

namespace sardonyx::aten {
namespace {

using Network = RecurrentNetwork;

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

}  // namespace

RecurrentNetwork recurrent_network(const Call& call, Emit& onnx) {
  Network network{call.flag("has_biases"), call.flag("bidirectional"), false, false,
                  call.integer("num_layers")};
  if (call.captured().schema->overload == "data") {
    const Padded sequences = padded(call, onnx);
    network.input = sequences.values;
    network.lengths = sequences.lengths;
  } else {
    network.input = call.tensor("input");
    network.batch_first = call.flag("batch_first");
    network.unbatched = network.input.rank() == 2;
  }
  return network;
}

onnx::Values initial_states(Emit& onnx, const Network& network, const std::vector<Value>& given) {
  onnx::Values initial;
  for (const Value state : given)
    initial.push_back(network.unbatched ? onnx.unsqueeze(state, {1}) : state);
  return initial;
}

Outputs run_layers(const Call& call, Emit& onnx, const Network& network,
                   const onnx::Values& initial, const RunLayer& run) {
  const std::size_t states = initial.size();
  Value x = to_time_first(onnx, network, network.input);
  std::vector<std::vector<Value>> finals(states);
  const double dropout = call.flag("train") ? call.number("dropout") : 0;
  for (std::int64_t layer = 0; layer < network.layers; ++layer) {
    if (layer > 0) x = dropped(onnx, x, dropout);
    onnx::Values own;
    for (const Value state : initial) own.push_back(layer_state(onnx, network, state, layer));
    const onnx::Values found = run(x, layer, own);
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

onnx::Values run_directions(Emit& onnx, const Network& network, const onnx::Values& states,
                            const RunDirection& run) {
  std::vector<onnx::Values> parts(states.size() + 1);
  for (std::int64_t direction = 0; direction < network.directions(); ++direction) {
    onnx::Values initial;
    for (const Value state : states) initial.push_back(onnx.select(state, 0, direction));
    const onnx::Values found = run(direction, initial);
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

}  // namespace sardonyx::aten

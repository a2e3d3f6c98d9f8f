// What recurrent networks over whole sequences have in common, whatever computes a layer.
#pragma once

#include <functional>

#include "aten/call.h"

namespace sardonyx::aten {

struct RecurrentNetwork {
  bool biases, bidirectional, batch_first, unbatched;
  std::int64_t layers;
  Value input{};
  Value lengths{};  // int64 [batch] of packed sequences; absent where all are whole

  std::int64_t directions() const { return bidirectional ? 2 : 1; }
};

// Of a call with the arguments of aten::lstm.input or, of packed sequences, aten::lstm.data.
RecurrentNetwork recurrent_network(const Call& call, Emit& onnx);

// The initial states that `hx` gives, [layers * directions, batch, hidden].
onnx::Values initial_states(Emit& onnx, const RecurrentNetwork& network,
                            const std::vector<Value>& given);

// One layer over x [time, batch, features], given its states [directions, batch, hidden]: the
// hidden state at each time [time, directions, batch, hidden], and the final states.
using RunLayer =
    std::function<onnx::Values(Value x, std::int64_t layer, const onnx::Values& states)>;

// What the call gives, its layers run one after the other.
Outputs run_layers(const Call& call, Emit& onnx, const RecurrentNetwork& network,
                   const onnx::Values& initial, const RunLayer& run);

// A layer out of its directions, of which each gives [time, batch, hidden] and the final states
// [batch, hidden].
using RunDirection =
    std::function<onnx::Values(std::int64_t direction, const onnx::Values& states)>;
onnx::Values run_directions(Emit& onnx, const RecurrentNetwork& network, const onnx::Values& states,
                            const RunDirection& run);

}  // namespace sardonyx::aten

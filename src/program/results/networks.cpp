// Results of recurrent layers and normalisations with several results.
#include "program/results/bound.h"

namespace sardonyx::program {
namespace {

std::int64_t directions(const Bound& call) { return call.flag("bidirectional") ? 2 : 1; }

// The sequence with as many features as the state has, for each direction.
ResultTensor sequence(const Bound& call, const Value& state) {
  Sizes shape = call.self().shape;
  shape.back() = state.shape.back() * Expr(directions(call));
  return like(call.self(), std::move(shape));
}

void check_plain(const Bound& call) {
  if (call.schema().overload != "input") call.refuse("packed sequences");
}

ResultTensors lstm(const Bound& call) {
  check_plain(call);
  const auto states = call.tensors("hx");
  const auto weights = call.tensors("params");
  if (states.size() != 2 || !states[0] || !states[1]) call.refuse("it needs two states");
  return {sequence(call, *states[0]), like(*states[0], states[0]->shape),
          like(*states[1], states[1]->shape)};
}

ResultTensors recurrent(const Bound& call) {
  check_plain(call);
  const Value& state = call.tensor("hx");
  return {sequence(call, state), like(state, state.shape)};
}

ResultTensors lstm_cell(const Bound& call) {
  const auto states = call.tensors("hx");
  if (states.size() != 2 || !states[0] || !states[1]) call.refuse("it needs two states");
  return {like(*states[0], states[0]->shape), like(*states[1], states[1]->shape)};
}

ResultTensors cell(const Bound& call) {
  const Value& state = call.tensor("hx");
  return {like(state, state.shape)};
}

ResultTensors native_layer_norm(const Bound& call) {
  const Value& input = call.self();
  Sizes reduced = input.shape;
  const std::size_t normalized = call.sizes("normalized_shape").size();
  for (std::size_t i = reduced.size() - normalized; i < reduced.size(); ++i) reduced[i] = 1;
  const ResultTensor statistics = like(input, reduced);
  return {like(input, input.shape), statistics, statistics};
}

ResultTensors native_dropout(const Bound& call) {
  const ResultTensor result = like(call.self(), call.self().shape);
  return {result, {DType::kBool, result.shape, {}}};
}

constexpr ResultRow kRows[] = {
    {"lstm", lstm},
    {"gru rnn_tanh rnn_relu", recurrent},
    {"lstm_cell", lstm_cell},
    {"gru_cell rnn_tanh_cell rnn_relu_cell", cell},
    {"native_layer_norm", native_layer_norm},
    {"native_dropout", native_dropout},
};

}  // namespace

std::span<const ResultRow> network_results() { return kRows; }

}  // namespace sardonyx::program

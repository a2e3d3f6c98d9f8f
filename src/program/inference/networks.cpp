// Results of recurrent layers and normalizations with several results.
#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

std::int64_t directions(const Bound& call) { return call.flag("bidirectional") ? 2 : 1; }

// The sequence with as many features as the state has, for each direction.
TensorType sequence(const Bound& call, const Value& state) {
  Sizes shape = call.self().shape;
  shape.back() = state.shape.back() * Expr(directions(call));
  return like(call.self(), std::move(shape));
}

TensorTypes encoder_layer(const Bound& call) { return {like(call.self(), call.self().shape)}; }

// Weights of each head, or of all; of no element where they are not asked for.
TensorTypes many_heads(const Bound& call) {
  const Value &query = call.self(), &key = call.tensor("key");
  if (query.rank() != 3) call.refuse("its query has no batch, time and features");
  Sizes weights = {query.shape[0], query.shape[1], key.shape.at(1)};
  if (!call.flag("average_attn_weights"))
    weights.insert(weights.begin() + 1, call.size("num_head"));
  if (!call.flag("need_weights")) weights = {0};
  return {like(query, query.shape), like(query, std::move(weights))};
}

TensorTypes lstm(const Bound& call) {
  const auto states = call.tensors("hx");
  if (states.size() != 2 || !states[0] || !states[1]) call.refuse("it needs two states");
  return {sequence(call, *states[0]), like(*states[0], states[0]->shape),
          like(*states[1], states[1]->shape)};
}

TensorTypes recurrent(const Bound& call) {
  const Value& state = call.tensor("hx");
  return {sequence(call, state), like(state, state.shape)};
}

TensorTypes lstm_cell(const Bound& call) {
  const auto states = call.tensors("hx");
  if (states.size() != 2 || !states[0] || !states[1]) call.refuse("it needs two states");
  return {like(*states[0], states[0]->shape), like(*states[1], states[1]->shape)};
}

TensorTypes cell(const Bound& call) {
  const Value& state = call.tensor("hx");
  return {like(state, state.shape)};
}

// Rows of all sequences, and how many there are at each step.
TensorTypes packed(const Bound& call) {
  const Value& input = call.self();
  if (input.rank() < 2) call.refuse("its input has no time and batch");
  Sizes rows = {call.fresh()};
  rows.insert(rows.end(), input.shape.begin() + 2, input.shape.end());
  return {like(input, std::move(rows)), {DType::kInt64, {call.fresh()}, {}}};
}

// How many sequences these counts are of.
Expr batch_of(const Bound& call, const Value& batch_sizes) {
  const Call* pack = batch_sizes.producer;
  if (!pack || pack->schema->base_name() != "_pack_padded_sequence") return call.fresh();
  const Value* lengths = tensor_of(pack->argument("lengths"));
  return lengths && lengths->rank() == 1 ? lengths->shape[0] : call.fresh();
}

TensorTypes padded(const Bound& call) {
  const Value &data = call.self(), &batch_sizes = call.tensor("batch_sizes");
  const Expr batch = batch_of(call, batch_sizes), total = call.size("total_length");
  const Expr steps = total.is_constant() && total.value() <= 0 ? batch_sizes.shape.at(0) : total;
  Sizes shape = call.flag("batch_first") ? Sizes{batch, steps} : Sizes{steps, batch};
  shape.insert(shape.end(), data.shape.begin() + 1, data.shape.end());
  return {like(data, std::move(shape)), {DType::kInt64, {batch}, {}}};
}

// Statistics are float32 where half the input meets weights of float32.
DType type_of_statistics(const Bound& call) {
  const Value* weight = call.optional_tensor("weight");
  return weight ? base::promote(call.self().dtype, weight->dtype) : call.self().dtype;
}

TensorTypes native_group_norm(const Bound& call) {
  const TensorType statistics = {
      type_of_statistics(call), {call.size("N"), call.size("group")}, {}};
  return {like(call.self(), call.self().shape), statistics, statistics};
}

TensorTypes native_layer_norm(const Bound& call) {
  const Value& input = call.self();
  Sizes reduced = input.shape;
  const std::size_t normalized = call.sizes("normalized_shape").size();
  for (std::size_t i = reduced.size() - normalized; i < reduced.size(); ++i) reduced[i] = 1;
  const TensorType statistics = {type_of_statistics(call), reduced, {}};
  return {like(input, input.shape), statistics, statistics};
}

TensorTypes native_dropout(const Bound& call) {
  const TensorType result = like(call.self(), call.self().shape);
  return {result, {DType::kBool, result.shape, {}}};
}

constexpr ResultRow kRows[] = {
    {"_native_multi_head_attention", many_heads},
    {"_pack_padded_sequence", packed},
    {"_pad_packed_sequence", padded},
    {"_transformer_encoder_layer_fwd", encoder_layer},
    {"lstm", lstm},
    {"gru rnn_tanh rnn_relu", recurrent},
    {"lstm_cell", lstm_cell},
    {"gru_cell rnn_tanh_cell rnn_relu_cell", cell},
    {"native_layer_norm", native_layer_norm},
    {"native_group_norm", native_group_norm},
    {"native_dropout", native_dropout},
};

}  // namespace

std::span<const ResultRow> network_results() { return kRows; }

}  // namespace sardonyx::program

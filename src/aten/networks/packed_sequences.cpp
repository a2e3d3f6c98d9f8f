#include "aten/networks/packed_sequences.h"

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

constexpr std::string_view kPack = "aten::_pack_padded_sequence";

// [time, batch]: whether a sequence has such a step.
Value within(Emit& onnx, Value time, Value lengths) {
  return onnx.less(onnx.unsqueeze(time, {1}), onnx.unsqueeze(lengths, {0}));
}

// 0, 1, ..., count - 1 for a count that stands in a 0-d tensor.
Value counted(Emit& onnx, Value count) {
  return onnx.range(onnx.int_scalar(0), count, onnx.int_scalar(1));
}

Value steps_of(Emit& onnx, Value values) { return counted(onnx, onnx.dim_of(values, 0)); }

const program::Call* producer_of(const Call& call, std::string_view name) {
  const program::Value* value = program::tensor_of(call.argument(name));
  return value ? value->producer : nullptr;
}

// Whether the rows stand as packing left them, or a layer that was given them so.
bool keeps_order(const program::Call* producer, const program::Value* batch_sizes) {
  if (!producer) return false;
  if (producer->schema->qualified() == kPack)
    return producer->outputs.size() > 1 && producer->outputs[1] == batch_sizes;
  return producer->schema->overload == "data" &&
         program::tensor_of(producer->argument("batch_sizes")) == batch_sizes;
}

// Each step's rows lie behind those of the step before.
Padded padded_by_counts(Emit& onnx, Value data, Value batch_sizes) {
  const Value sequences = counted(onnx, onnx.select(batch_sizes, 0, 0));
  const Value starts = onnx.cumsum(batch_sizes, onnx.int_scalar(0), {.exclusive = 1});
  const Value rows = onnx.add(onnx.unsqueeze(starts, {1}), onnx.unsqueeze(sequences, {0}));
  const Value last = onnx.sub(onnx.dim_of(data, 0), onnx.int_scalar(1));
  const Value present = onnx.less(onnx.unsqueeze(sequences, {0}), onnx.unsqueeze(batch_sizes, {1}));
  const std::int64_t time[] = {0};
  return {onnx.gather(data, onnx.min({rows, last}), {.axis = 0}),
          onnx.reduce("ReduceSum", onnx.cast(present, DType::kInt64), time, false)};
}

Outputs pack(const Call& call, Emit& onnx) {
  const Value input = call.tensor("input"), lengths = call.tensor("lengths");
  if (input.rank() < 2) call.refuse("the input has no time and batch");
  const Value values = call.flag("batch_first") ? onnx.swap_axes(input, 0, 1) : input;
  const Value present = within(onnx, steps_of(onnx, values), lengths);
  const std::int64_t batch[] = {1};
  const Value counts = onnx.reduce("ReduceSum", onnx.cast(present, DType::kInt64), batch, false);
  const Value some = onnx.less(onnx.int_scalar(0), counts);
  return {packed(call, onnx, {values, lengths}), onnx.compress(counts, some, {.axis = 0})};
}

// As many steps as the longest sequence has, or as are asked for.
Value of_length(const Call& call, Emit& onnx, const Padded& sequences, Value filler) {
  const Expr total = call.size("total_length");
  if (total == sequences.values.dim(0)) return sequences.values;
  const std::int64_t all[] = {0};
  const Value longest = onnx.reduce("ReduceMax", sequences.lengths, all, true);
  const Value cut = onnx.slice(sequences.values, onnx.ints({0}), longest, onnx.ints({0}));
  if (total.is_constant() && total.value() <= 0) return cut;
  const Value missing = onnx.sub(onnx.sizes({total}), longest);
  const Value pads = onnx.concat({onnx.ints({0}), missing}, 0);
  return onnx.pad(cut, pads, filler, onnx.ints({0}));
}

Outputs pad(const Call& call, Emit& onnx) {
  const Padded sequences = padded(call, onnx);
  const Value filler = scalar_value(onnx, call.scalar("padding_value"), sequences.values.dtype());
  Value present = within(onnx, steps_of(onnx, sequences.values), sequences.lengths);
  for (std::int64_t axis = 2; axis < sequences.values.rank(); ++axis)
    present = onnx.unsqueeze(present, {axis});
  const Value filled = onnx.where(present, sequences.values, filler);
  const Value result = of_length(call, onnx, {filled, sequences.lengths}, filler);
  return {call.flag("batch_first") ? onnx.swap_axes(result, 0, 1) : result, sequences.lengths};
}

constexpr Row kRows[] = {
    {"aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, "
     "Tensor)",
     pack},
    {"aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar "
     "padding_value, int total_length) -> (Tensor, Tensor)",
     pad},
};

}  // namespace

Padded padded(const Call& call, Emit& onnx) {
  const Value data = call.tensor("data"), batch_sizes = call.tensor("batch_sizes");
  const program::Value* counts = program::tensor_of(call.argument("batch_sizes"));
  const program::Call* pack = producer_of(call, "batch_sizes");
  if (pack && pack->schema->qualified() == kPack &&
      keeps_order(producer_of(call, "data"), counts)) {
    const program::Value* lengths = program::tensor_of(pack->argument("lengths"));
    const auto& known = call.environment();
    const auto values = known.side_by_side.find(data.info());
    const auto found = known.find(lengths);
    if (values != known.side_by_side.end() && found != known.end())
      return {values->second, found->second};
  }
  return padded_by_counts(onnx, data, batch_sizes);
}

Value packed(const Call& call, Emit& onnx, const Padded& sequences) {
  const Value values = sequences.values;
  const Value present = within(onnx, steps_of(onnx, values), sequences.lengths);
  Shape flat = {values.dim(0) * values.dim(1)};
  for (std::int64_t axis = 2; axis < values.rank(); ++axis) flat.push_back(values.dim(axis));
  const Value rows =
      onnx.compress(onnx.reshape(values, flat), onnx.flatten_to_1d(present), {.axis = 0});
  call.environment().side_by_side.emplace(rows.info(), values);
  return rows;
}

std::span<const Row> packed_sequence_rows() { return kRows; }

}  // namespace sardonyx::aten

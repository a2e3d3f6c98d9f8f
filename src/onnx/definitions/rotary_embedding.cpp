// RotaryEmbedding decomposed: pairs of elements turned by an angle that depends on their position.
#include <vector>

#include "onnx/definitions/parts.h"
#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

struct Pair {
  Value first, second;
};

// Elements 0, 2, 4, ... and 1, 3, 5, ... of the last axis, or its two halves.
Pair pairs_of(Emit& onnx, Value x, bool interleaved) {
  const std::int64_t last = x.rank() - 1;
  const Expr size = x.dim(last);
  if (interleaved) return {onnx.slice(x, last, 0, size, 2), onnx.slice(x, last, 1, size, 2)};
  const Expr half = symbolic::floor_div(size, 2);
  return {onnx.slice(x, last, 0, half), onnx.slice(x, last, half, size)};
}

Value joined(Emit& onnx, const Pair& pair, bool interleaved) {
  if (!interleaved) return onnx.concat({pair.first, pair.second}, -1);
  const std::int64_t rank = pair.first.rank();
  const Value beside =
      onnx.concat({onnx.unsqueeze(pair.first, {rank}), onnx.unsqueeze(pair.second, {rank})}, rank);
  Shape shape = pair.first.shape();
  shape.back() = shape.back() * 2;
  return onnx.reshape(beside, shape);
}

// Pairs of numbers turned by the angles of these cosines and sines.
Value turned_pairs(Emit& onnx, Value x, Value cosine, Value sine, bool interleaved) {
  const auto [first, second] = pairs_of(onnx, x, interleaved);
  const Value second_sine = onnx.mul(second, sine), first_cosine = onnx.mul(first, cosine);
  const Value turned_first = onnx.sub(first_cosine, second_sine);
  const Value second_cosine = onnx.mul(second, cosine), first_sine = onnx.mul(first, sine);
  const Pair result = {turned_first, onnx.add(first_sine, second_cosine)};
  return joined(onnx, result, interleaved);
}

// The same of two halves of the last axis, with tables of its whole width: layers share these.
Value turned_halves(Emit& onnx, Value x, Value cosine, Value sine) {
  const std::int64_t half = x.dim(-1).value() / 2;
  const Values halves = onnx.split(2, x, onnx.ints({half, half}), {.axis = x.rank() - 1});
  const Value swapped = onnx.concat({halves[1], halves[0]}, -1);
  const Value signed_sines = onnx.concat({onnx.neg(sine), sine}, -1);
  const Value by_sines = onnx.mul(swapped, signed_sines);
  return onnx.add(onnx.mul(x, onnx.concat({cosine, cosine}, -1)), by_sines);
}

// The same of neighbors in it, which change places by their indices.
Value turned_neighbors(Emit& onnx, Value x, Value cosine, Value sine) {
  const std::int64_t size = x.dim(-1).value(), half = size / 2, last = x.rank() - 1;
  std::vector<std::int64_t> swapped, twice, halves_apart;
  for (std::int64_t i = 0; i < size; ++i) {
    swapped.push_back(i ^ 1);
    twice.push_back(i / 2);
    halves_apart.push_back(i / 2 + (i % 2) * half);
  }
  const Value cosines = onnx.gather(cosine, onnx.ints(twice), {.axis = last});
  const Value places = onnx.ints(halves_apart);
  const Value sines = onnx.gather(onnx.concat({onnx.neg(sine), sine}, -1), places, {.axis = last});
  const Value others = onnx.gather(x, onnx.ints(swapped), {.axis = last});
  const Value by_sines = onnx.mul(others, sines);
  return onnx.add(onnx.mul(x, cosines), by_sines);
}

Value turned_by(Emit& onnx, Value x, Value cosine, Value sine, bool interleaved) {
  if (!x.dim(-1).is_constant() || x.dim(-1).value() % 2 != 0)
    return turned_pairs(onnx, x, cosine, sine, interleaved);
  return interleaved ? turned_neighbors(onnx, x, cosine, sine)
                     : turned_halves(onnx, x, cosine, sine);
}

// Tables that a batch shares were expanded for the operator alone: a product broadcasts them.
Value shared_by_batch(Value table) {
  const Node* expand = table->producer;
  if (expand == nullptr || !expand->is(Op::kExpand)) return table;
  const Value given = expand->input(0);
  if (!given.has_rank() || given.rank() != table.rank() || !given.dim(0).is(1)) return table;
  for (std::int64_t axis = 1; axis < table.rank(); ++axis)
    if (!(given.dim(axis) == table.dim(axis))) return table;
  return given;
}

// The cosines or sines of each place, with an axis of 1 for the heads.
Value at_places(const Composite& call, std::size_t cache, Expr half, std::int64_t heads_axis) {
  Emit& onnx = call.onnx;
  Value table = call.input(cache);
  const Value places = call.input(3);
  table = places ? onnx.gather(table, places) : shared_by_batch(table);
  table = onnx.unsqueeze(table, {heads_axis});
  return table.dim(-1) == half ? table : onnx.slice(table, 3, 0, half);
}

// The first `turned` of the last of four axes, and the others.
Values parted(Emit& onnx, Value x, std::int64_t turned) {
  const Expr size = x.dim(3);
  if (!size.is_constant()) return {onnx.slice(x, 3, 0, turned), onnx.slice(x, 3, turned, size)};
  return onnx.split(2, x, onnx.ints({turned, size.value() - turned}), {.axis = 3});
}

}  // namespace

std::optional<Values> rotary_embedding(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value given = call.input(0);
  if (!given.has_rank() || !call.input(1) || !call.input(2) || !call.input(1).has_rank())
    return std::nullopt;
  const bool flat = given.rank() == 3;
  const std::int64_t heads = call.integer("num_heads", 0);
  if (flat && heads == 0) return std::nullopt;
  for (const Expr dim : given.shape())
    if (!dim.known()) return std::nullopt;
  Value x = given;
  if (flat) {
    const Expr size = symbolic::exact_quotient(x.dim(2), Expr(heads));
    x = onnx.reshape(x, {x.dim(0), x.dim(1), Expr(heads), size});
  }
  const std::int64_t turned = call.integer("rotary_embedding_dim", 0);
  const bool interleaved = call.integer("interleaved", 0) != 0;
  const bool partly = turned > 0 && !x.dim(3).is(turned);
  Value part = x, rest;
  if (partly) {
    const Values parts = parted(onnx, x, turned);
    part = parts[0];
    rest = parts[1];
  }
  const Expr half = symbolic::floor_div(part.dim(3), 2);
  const std::int64_t heads_axis = flat ? 2 : 1;
  const Value cosine = at_places(call, 1, half, heads_axis),
              sine = at_places(call, 2, half, heads_axis);
  Value y = turned_by(onnx, part, cosine, sine, interleaved);
  if (partly) y = onnx.concat({y, rest}, 3);
  if (!flat) return Values{y};
  return Values{onnx.reshape(y, given.shape())};
}

}  // namespace sardonyx::onnx

// Diagonals put in, and matrices made of powers and of blocks: diag, diag_embed, block_diag,
// vander.
#include <algorithm>
#include <limits>

#include "aten/families.h"
#include "aten/reduction/prefix_scan.h"

namespace sardonyx::aten {
namespace {

// x's last axis on the diagonal `offset` of two new last axes, zeros elsewhere. Chosen, not
// multiplied with ones and zeros: infinities stay where they are.
Value embedded(Emit& onnx, Value x, std::int64_t offset) {
  const Expr size = x.dim(-1) + std::abs(offset);
  const Value index = onnx.range(size);
  const Value row = onnx.unsqueeze(index, {1});
  const Value on = onnx.equal(onnx.add(row, onnx.int_scalar(offset)), index);
  // Entry [i, j] of the diagonal is element i where it lies above, j where below. Padded by
  // `offset`, the longer axis has an element for every place.
  const std::int64_t rank = x.rank();
  Shape padding = x.shape();
  padding.back() = std::abs(offset);
  const Value zeros = onnx.full(padding, onnx.zero(x.dtype()));
  const Value padded = offset == 0 ? x : onnx.concat({x, zeros}, rank - 1);
  const Value spread = onnx.unsqueeze(padded, {offset >= 0 ? rank : rank - 1});
  return onnx.where(on, spread, onnx.zero(x.dtype()));
}

Outputs diag_embed(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t rank = self.rank() + 1;
  const std::int64_t first = call.axis("dim1", rank), second = call.axis("dim2", rank);
  std::int64_t offset = call.integer("offset");
  // The matrix's axes are the last two; then they move to where they are wanted.
  const Value x = embedded(onnx, self, offset);
  std::vector<std::int64_t> order;
  std::int64_t next = 0;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    order.push_back(axis == first ? rank - 2 : axis == second ? rank - 1 : next++);
  }
  return {onnx.transpose(x, order)};
}

Outputs diagflat(const Call& call, Emit& onnx) {
  return {embedded(onnx, onnx.flatten_to_1d(call.tensor("self")), call.integer("offset"))};
}

// Of a vector a matrix, of a matrix its diagonal.
Outputs diag(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t offset = call.integer("diagonal");
  if (self.rank() == 1) return {embedded(onnx, self, offset)};
  const Value index = onnx.range(call.result_shape().front());
  const auto from = [&](std::int64_t start) { return onnx.add(index, onnx.int_scalar(start)); };
  const Value row = from(std::max<std::int64_t>(-offset, 0));
  const Value column = from(std::max<std::int64_t>(offset, 0));
  const Value places = onnx.concat({onnx.unsqueeze(row, {1}), onnx.unsqueeze(column, {1})}, 1);
  return {onnx.gather_nd(self, places)};
}

// Each matrix with zeros to its left and right, one below the other.
Outputs block_diag(const Call& call, Emit& onnx) {
  std::vector<Value> blocks;
  for (const Value tensor : call.tensors("tensors")) {
    blocks.push_back(onnx.with_rank(onnx.cast(tensor, call.result_dtype()), 2));
  }
  Expr left = 0, right = 0;
  for (const Value block : blocks) right = right + block.dim(1);
  std::vector<Value> rows;
  for (const Value block : blocks) {
    right = right - block.dim(1);
    const Value zero = onnx.zero(block.dtype());
    std::vector<Value> parts;
    if (!left.is(0)) parts.push_back(onnx.full(Shape{block.dim(0), left}, zero));
    parts.push_back(block);
    if (!right.is(0)) parts.push_back(onnx.full(Shape{block.dim(0), right}, zero));
    rows.push_back(parts.size() == 1 ? block : onnx.concat(parts, 1));
    left = left + block.dim(1);
  }
  return {rows.size() == 1 ? rows.front() : onnx.concat(rows, 0)};
}

// Running products of 1, x, x, ...: powers are exact for whole numbers too.
Value powers(Emit& onnx, Value x, Expr count, bool increasing) {
  const std::int64_t axis = x.rank();
  Shape rest = x.shape();
  rest.push_back(count - 1);
  const Value column = onnx.unsqueeze(x, {axis});
  Shape first = x.shape();
  first.emplace_back(1);
  const Value ones = onnx.full(first, onnx.one(x.dtype()));
  const Value factors = count.is(1) ? ones : onnx.concat({ones, onnx.expand(column, rest)}, axis);
  const auto product = [&](const onnx::Values& earlier, const onnx::Values& later) {
    return onnx::Values{onnx.mul(earlier.front(), later.front())};
  };
  const Value found = prefix_scan(onnx, {factors}, axis, product).front();
  if (increasing) return found;
  return onnx.slice(found, axis, -1, std::numeric_limits<std::int64_t>::min(), -1);
}

Outputs vander_of(const Call& call, Emit& onnx, std::string_view name, bool increasing) {
  const Value x = onnx.cast(call.tensor(name), call.result_dtype());
  const Expr count = call.result_shape().back();
  if (count.is(0)) return {onnx.full(call.result_shape(), onnx.zero(x.dtype()))};
  return {powers(onnx, x, count, increasing)};
}

Outputs vander(const Call& call, Emit& onnx) {
  return vander_of(call, onnx, "x", call.flag("increasing"));
}
Outputs linalg_vander(const Call& call, Emit& onnx) { return vander_of(call, onnx, "x", true); }

constexpr Row kRows[] = {
    {"aten::block_diag(Tensor[] tensors) -> Tensor", block_diag},
    {"aten::diag(Tensor self, int diagonal=0) -> Tensor", diag},
    {"aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", diag_embed},
    {"aten::diagflat(Tensor self, int offset=0) -> Tensor", diagflat},
    {"aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor", linalg_vander},
    {"aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", vander},
};

}  // namespace

std::span<const Row> diagonals_rows() { return kRows; }

}  // namespace sardonyx::aten

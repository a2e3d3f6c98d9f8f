// Parts of a tensor along one axis: slice, select, narrow, split, chunk, unbind.
#include <limits>

#include "aten/families.h"
#include "symbolic/positions.h"

namespace sardonyx::aten {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

// Python's slice bounds: what lies outside is clamped, as ONNX's Slice does too.
Outputs slice(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Expr start = call.optional_size("start").value_or(0);
  const Expr end = call.optional_size("end").value_or(kEnd);
  return {onnx.slice(self, call.axis("dim", self.rank()), start, end, call.size("step"))};
}

Outputs select(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {onnx.select(self, call.axis("dim", self.rank()), call.size("index"))};
}

// A negative start counts from the end; -length + (size) must not read as an empty range.
Value narrowed(Emit& onnx, Value x, std::int64_t axis, Expr start, Expr length) {
  start = symbolic::from_front(start, x.dim(axis));
  return onnx.slice(x, axis, start, start + length);
}

Outputs narrow(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {
      narrowed(onnx, self, call.axis("dim", self.rank()), call.size("start"), call.size("length"))};
}

Outputs narrow_from(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t axis = call.axis("dim", self.rank());
  const Value given = onnx.flatten_to_1d(onnx.cast(call.tensor("start"), DType::kInt64));
  const Value from_end = onnx.add(given, onnx.size(self.dim(axis)));
  const Value start = onnx.where(onnx.less(given, onnx.int_scalar(0)), from_end, given);
  const Value end = onnx.add(start, onnx.size(call.size("length")));
  return {onnx.slice(self, start, end, onnx.ints({axis}))};
}

// hsplit, vsplit and dsplit say it by their name: the columns of a matrix, or the only axis.
std::int64_t split_axis(const Call& call, std::int64_t rank) {
  const std::string_view name = call.captured().schema->name;
  if (name == "aten::vsplit") return 0;
  if (name == "aten::dsplit") return 2;
  if (name == "aten::hsplit") return rank == 1 ? 0 : 1;
  return call.axis("dim", rank);
}

// Consecutive parts of these lengths; `checked` when only Split can tell whether they fit.
Outputs sized_parts(const Call& call, Emit& onnx, std::vector<Expr> lengths, bool checked = false) {
  const Value self = call.tensor("self");
  const std::int64_t axis = split_axis(call, self.rank());
  std::size_t used = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) used += call.uses_output(i) ? 1 : 0;
  // One part is a slice; more are cheaper in one Split.
  if (used > 1 || checked) {
    const std::size_t count = lengths.size();
    if (count == 1) lengths.emplace_back(0);  // a Split in one part would be dropped
    Outputs parts = onnx.split(lengths.size(), self, onnx.sizes(lengths), {.axis = axis});
    parts.resize(count);
    return parts;
  }
  Outputs result(lengths.size());
  Expr start = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (call.uses_output(i)) result[i] = onnx.slice(self, axis, start, start + lengths[i]);
    start = start + lengths[i];
  }
  return result;
}

// Parts of `size`, the last one shorter. How many there are is fixed in the program, though
// torch.export puts no guard on it: `surplus`, which is 0 where as many come out, makes the lengths
// add up to something else where they do not, which Split refuses.
std::vector<Expr> equal_lengths(Expr total, Expr size, std::size_t count, Expr surplus) {
  std::vector<Expr> lengths(count, size);
  if (count > 0) {
    lengths.back() = total - size * static_cast<std::int64_t>(count - 1) + surplus;
  }
  return lengths;
}

// By how many the parts of `size` are more than the program has; nothing is so many parts of
// nothing.
Expr surplus_of(Expr total, Expr size, std::size_t count, std::int64_t of_nothing) {
  const auto expected = static_cast<std::int64_t>(count);
  const Expr least = size * (expected - 1) + 1, most = size * expected;
  if (symbolic::certainly_less_equal(least, total) && symbolic::certainly_less_equal(total, most)) {
    return 0;
  }
  const Expr parts = symbolic::ceil_div(total, symbolic::max(size, 1));
  if (of_nothing == 1) return symbolic::max(parts, 1) - expected;
  return parts + (Expr(1) - symbolic::min(total, 1)) * of_nothing - expected;
}

Outputs split(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Expr total = self.dim(call.axis("dim", self.rank())), size = call.size("split_size");
  const Expr surplus = surplus_of(total, size, call.output_count(), 1);
  return sized_parts(call, onnx, equal_lengths(total, size, call.output_count(), surplus),
                     !surplus.is(0));
}

Outputs split_with_sizes(const Call& call, Emit& onnx) {
  return sized_parts(call, onnx, call.sizes("split_sizes"));
}

Outputs split_sizes(const Call& call, Emit& onnx) {
  return sized_parts(call, onnx, call.sizes("split_size"));
}

Outputs chunk(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Expr total = self.dim(call.axis("dim", self.rank()));
  const std::int64_t chunks = call.integer("chunks");
  const Expr size = symbolic::ceil_div(total, chunks);
  // So many elements always fill as many parts as are asked for.
  // Where only the first part is read, it may be the only one: there are never more than `chunks`.
  const std::size_t count = call.output_count();
  bool filled = count == static_cast<std::size_t>(chunks);
  if (filled && symbolic::range(total).low <= (chunks - 1) * (chunks - 1)) {
    for (std::size_t i = 1; i < count; ++i) filled = filled && !call.uses_output(i);
  }
  const Expr surplus = filled ? Expr(0) : surplus_of(total, size, call.output_count(), chunks);
  return sized_parts(call, onnx, equal_lengths(total, size, call.output_count(), surplus),
                     !surplus.is(0));
}

// The first (total mod sections) parts are one longer than the others.
Outputs tensor_split_sections(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Expr total = self.dim(split_axis(call, self.rank()));
  const auto count = static_cast<std::int64_t>(call.output_count());
  const Expr shorter = symbolic::floor_div(total, count), longer = symbolic::mod(total, count);
  std::vector<Expr> lengths;
  for (std::int64_t i = 0; i < count; ++i) {
    lengths.push_back(shorter + symbolic::min(Expr(i + 1), longer) -
                      symbolic::min(Expr(i), longer));
  }
  return sized_parts(call, onnx, lengths);
}

Outputs tensor_split_indices(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t axis = split_axis(call, self.rank());
  const std::vector<Expr> indices = call.sizes("indices");
  Outputs result(indices.size() + 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Expr start = i == 0 ? Expr(0) : indices[i - 1];
    const Expr end =
        i < indices.size() ? indices[i] : Expr(std::numeric_limits<std::int64_t>::max());
    if (call.uses_output(i)) result[i] = onnx.slice(self, axis, start, end);
  }
  return result;
}

// The indices, or the number of parts, in a tensor.
Outputs tensor_split_tensor(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self"), given = call.tensor("tensor_indices_or_sections");
  if (given.rank() == 0) return tensor_split_sections(call, onnx);
  const Value axis = onnx.ints({call.axis("dim", self.rank())});
  const auto bound = [&](std::size_t i) {
    const auto at = static_cast<std::int64_t>(i);
    return onnx.slice(given, 0, at, at + 1);
  };
  Outputs result(call.output_count());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Value start = i == 0 ? onnx.ints({0}) : bound(i - 1);
    const Value end = i + 1 < result.size() ? bound(i) : onnx.ints({kEnd});
    if (call.uses_output(i)) result[i] = onnx.slice(self, start, end, axis);
  }
  return result;
}

// torch.export takes it for tensor_split and squeeze, and keeps a dimension that it does not know
// to be 1. Rejected here, it is decomposed into just these again, with ranges, which decide.
Outputs unbind(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t axis = call.axis("dim", self.rank());
  Outputs result(call.output_count());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!call.uses_output(i)) continue;
    if (call.result_rank(i) != self.rank() - 1) {
      call.refuse("parts of a dimension whose size PyTorch's capture does not know",
                  "take them by their places, as in x[-2], x[-1]");
    }
    result[i] = onnx.select(self, axis, static_cast<std::int64_t>(i));
  }
  return result;
}

constexpr Row kRows[] = {
    {"aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", chunk},
    {"aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", tensor_split_indices},
    {"aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", tensor_split_sections},
    {"aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", tensor_split_indices},
    {"aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", tensor_split_sections},
    {"aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", narrow},
    {"aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)",
     narrow_from},
    {"aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor", narrow},
    {"aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", select},
    {"aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor", select},
    {"aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
     "step=1) -> Tensor(a)",
     slice},
    {"aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
     "step=1) -> Tensor",
     slice},
    {"aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]", split},
    {"aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
     split_sizes},
    {"aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", split},
    {"aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
     split_with_sizes},
    {"aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
     split_with_sizes},
    {"aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
     tensor_split_indices},
    {"aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
     tensor_split_sections},
    {"aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor "
     "tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
     tensor_split_tensor},
    {"aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", unbind},
    {"aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", unbind},
    {"aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", chunk},
    {"aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", split},
    {"aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
     split_with_sizes},
    {"aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", tensor_split_indices},
    {"aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", tensor_split_sections},
};

}  // namespace

std::span<const Row> slicing_rows() { return kRows; }

}  // namespace sardonyx::aten

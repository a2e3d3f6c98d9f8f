// Results of views, and of what lays the same elements out in another way.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "program/inference/bound_call.h"
#include "symbolic/positions.h"

namespace sardonyx::program {
namespace {

// Sizes with at most one -1, which is what is left of the elements.
Sizes solved(const Bound& call, Sizes sizes, Expr elements) {
  Expr known = 1;
  Expr* missing = nullptr;
  for (Expr& size : sizes) {
    if (size.is(-1)) {
      missing = &size;
    } else {
      known = known * size;
    }
  }
  if (!missing) return sizes;
  const Expr exact = symbolic::exact_quotient(elements, known);
  *missing = exact.known() ? exact : symbolic::floor_div(elements, known);
  if (!missing->known()) *missing = call.fresh();
  return sizes;
}

bool is_contiguous(const Value& value) { return value.strides.empty(); }

// How the memory of a tensor is stepped through under another shape, as PyTorch works it out: in
// runs of its dimensions that lie one behind the other. None where it is known of no such way, and
// reshape copies.
std::optional<Sizes> strides_as(const Value& self, const Sizes& shape) {
  if (is_contiguous(self) || self.shape.empty()) return std::nullopt;
  const Sizes strides = strides_of(self);
  Sizes result(shape.size(), Expr(1));
  std::size_t rest = shape.size();
  Expr step = strides.back(), run = 1;
  for (std::size_t dim = self.shape.size(); dim-- > 0;) {
    run = run * self.shape[dim];
    if (dim > 0 && (self.shape[dim - 1].is(1) || strides[dim - 1] == run * step)) continue;
    Expr taken = 1;
    while (rest > 0 && (!(taken == run) || shape[rest - 1].is(1))) {
      result[--rest] = taken * step;
      taken = taken * shape[rest];
    }
    if (!(taken == run)) return std::nullopt;
    if (dim > 0) step = strides[dim - 1];
    run = 1;
  }
  return rest == 0 ? std::optional(std::move(result)) : std::nullopt;
}

TensorTypes as_shape(const Value& self, Sizes shape) {
  std::optional<Sizes> strides = strides_as(self, shape);
  TensorType result = like(self, std::move(shape));
  if (strides) result.strides = *std::move(strides);
  return {std::move(result)};
}

TensorTypes viewed(const Bound& call) {
  if (const auto dtype = call.dtype()) {  // view.dtype: the same bytes
    if (base::bit_width(*dtype) != base::bit_width(call.self().dtype))
      call.refuse("a view of another element size");
    TensorType result = like(call.self());
    result.dtype = *dtype;
    return {result};
  }
  const char* name = call.schema().find("shape") ? "shape" : "size";
  const Expr elements = symbolic::product(call.self().shape);
  return as_shape(call.self(), solved(call, call.sizes(name), elements));
}

TensorTypes like_other(const Bound& call) {
  return as_shape(call.self(), call.tensor("other").shape);
}

TensorTypes flatten(const Bound& call) {
  const Sizes& shape = call.self().shape;
  if (shape.empty()) return as_shape(call.self(), {1});
  const std::size_t start = call.axis("start_dim", shape.size());
  const std::size_t end = call.axis("end_dim", shape.size());
  if (start > end) call.refuse("start_dim is behind end_dim");
  Sizes result(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(start));
  Expr flat = 1;
  for (std::size_t i = start; i <= end; ++i) flat = flat * shape[i];
  result.push_back(flat);
  result.insert(result.end(), shape.begin() + static_cast<std::ptrdiff_t>(end) + 1, shape.end());
  return as_shape(call.self(), std::move(result));
}

TensorTypes ravel(const Bound& call) {
  return as_shape(call.self(), {symbolic::product(call.self().shape)});
}

TensorTypes unflatten(const Bound& call) {
  Sizes result = call.self().shape;
  const std::size_t axis = call.axis("dim", result.size());
  const Sizes parts = solved(call, call.sizes("sizes"), result.at(axis));
  const auto place = result.begin() + static_cast<std::ptrdiff_t>(axis);
  result.insert(result.erase(place), parts.begin(), parts.end());
  return as_shape(call.self(), std::move(result));
}

TensorTypes permuted(const Value& self, const std::vector<std::size_t>& order) {
  TensorType result = like(self, {});
  const Sizes strides = strides_of(self);
  bool in_order = is_contiguous(self);
  for (std::size_t i = 0; i < order.size(); ++i) {
    result.shape.push_back(self.shape.at(order[i]));
    result.strides.push_back(strides.at(order[i]));
    in_order = in_order && order[i] == i;
  }
  if (in_order) result.strides.clear();
  return {result};
}

std::vector<std::size_t> identity(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  return order;
}

TensorTypes permute(const Bound& call) {
  std::vector<std::size_t> order;
  for (const std::int64_t dim : call.integers("dims"))
    order.push_back(call.axis(dim, call.self().rank()));
  if (order.size() != call.self().rank()) call.refuse("it permutes another number of dimensions");
  return permuted(call.self(), order);
}

TensorTypes transpose(const Bound& call) {
  const std::size_t rank = call.self().rank();
  const bool axes = call.schema().find("axis0").has_value();
  std::vector<std::size_t> order = identity(rank);
  if (rank > 0) {
    std::swap(order[call.axis(axes ? "axis0" : "dim0", rank)],
              order[call.axis(axes ? "axis1" : "dim1", rank)]);
  }
  return permuted(call.self(), order);
}

TensorTypes reversed(const Bound& call) {
  std::vector<std::size_t> order = identity(call.self().rank());
  std::ranges::reverse(order);
  return permuted(call.self(), order);
}

// mT, adjoint: the last two
TensorTypes matrix_transpose(const Bound& call) {
  std::vector<std::size_t> order = identity(call.self().rank());
  if (order.size() < 2) call.refuse("it needs a matrix");
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permuted(call.self(), order);
}

TensorTypes movedim(const Bound& call) {
  const std::size_t rank = call.self().rank();
  std::vector<std::size_t> from, order(rank, rank);
  const std::vector<std::int64_t> source = call.integers("source");
  const std::vector<std::int64_t> destination = call.integers("destination");
  std::vector<bool> moved(rank);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t axis = call.axis(source[i], rank);
    order.at(call.axis(destination.at(i), rank)) = axis;
    moved.at(axis) = true;
  }
  std::size_t next = 0;
  for (std::size_t& place : order) {
    if (place != rank) continue;
    while (moved.at(next)) ++next;
    place = next++;
  }
  return permuted(call.self(), order);
}

// Without or with some dimensions; memory stays as it is.
TensorTypes without(const Value& self, const std::vector<bool>& gone) {
  TensorType result = like(self, {});
  const Sizes strides = strides_of(self);
  for (std::size_t i = 0; i < self.shape.size(); ++i) {
    if (gone[i]) continue;
    result.shape.push_back(self.shape[i]);
    result.strides.push_back(strides[i]);
  }
  if (is_contiguous(self)) result.strides.clear();
  return {result};
}

TensorTypes squeeze(const Bound& call) {
  const Value& self = call.self();
  std::vector<bool> gone(self.rank());
  // A size that is known only at run time stays, which the translation reports (SX1313).
  const auto drop = [&](std::size_t axis) {
    if (axis < gone.size()) gone[axis] = self.shape[axis].is(1);
  };
  if (call.schema().find("dim")) {
    for (const std::int64_t dim : call.integers("dim")) drop(call.axis(dim, self.rank()));
  } else {
    for (std::size_t i = 0; i < gone.size(); ++i) drop(i);
  }
  return without(self, gone);
}

TensorTypes unsqueeze(const Bound& call) {
  const Value& self = call.self();
  const auto axis = static_cast<std::ptrdiff_t>(call.axis("dim", self.rank() + 1));
  TensorType result = like(self);
  result.shape.insert(result.shape.begin() + axis, 1);
  if (!is_contiguous(self)) {
    const Expr stride = static_cast<std::size_t>(axis) < self.rank()
                            ? self.strides[static_cast<std::size_t>(axis)] *
                                  self.shape[static_cast<std::size_t>(axis)]
                            : Expr(1);
    result.strides.insert(result.strides.begin() + axis, stride);
  }
  return {result};
}

TensorTypes select(const Bound& call) {
  const Value& self = call.self();
  if (self.rank() == 0) call.refuse("a 0-d tensor has nothing to select from");
  std::vector<bool> gone(self.rank());
  const std::size_t axis = call.axis("dim", self.rank());
  gone[axis] = true;
  TensorTypes results = without(self, gone);
  if (axis > 0 && is_contiguous(self)) {
    Sizes strides = strides_of(self);
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
    results.front().strides = std::move(strides);
  }
  return results;
}

TensorTypes slice(const Bound& call) {
  const Value& self = call.self();
  TensorType result = like(self);
  if (self.rank() == 0) call.refuse("a 0-d tensor has no slices");
  const std::size_t axis = call.axis("dim", self.rank());
  const Expr size = self.shape[axis];
  constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();
  const bool to_end = !call.has("end") || call.size("end").is(kEndless);
  const Expr start =
      call.has("start") ? symbolic::clamped_position(call.size("start"), size) : Expr(0);
  const Expr end = to_end ? size : symbolic::clamped_position(call.size("end"), size);
  const Expr step = call.size("step");
  Expr length = to_end ? end - start : symbolic::max(end - start, 0);
  if (!step.is(1)) length = symbolic::ceil_div(length, step);
  if (!length.known()) length = call.fresh();
  result.shape[axis] = length;
  if (length == size) return {like(self)};
  result.strides = strides_of(self);
  result.strides[axis] = result.strides[axis] * step;
  if (axis == 0 && step.is(1) && is_contiguous(self)) result.strides.clear();
  return {result};
}

TensorTypes narrow(const Bound& call) {
  const Value& self = call.self();
  TensorType result = like(self);
  const std::size_t axis = call.axis("dim", self.rank());
  result.shape.at(axis) = call.size("length");
  if (axis > 0) result.strides = strides_of(self);
  return {result};
}

TensorTypes expand_to(const Value& self, const Sizes& wanted) {
  TensorType result = like(self, wanted);
  const std::size_t added = wanted.size() - self.rank();
  const Sizes strides = strides_of(self);
  bool repeats = !is_contiguous(self);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool is_new = i < added;
    Expr& size = result.shape[i];
    const Expr own = is_new ? Expr(1) : self.shape[i - added];
    if (size.is(-1)) size = own;
    const bool same = !is_new && size == own;
    repeats = repeats || !same;
    result.strides.push_back(same ? strides[i - added] : Expr(0));
  }
  if (!repeats) result.strides.clear();
  return {result};
}

TensorTypes expand(const Bound& call) {
  const Sizes wanted = call.sizes("size");
  if (wanted.size() < call.self().rank()) call.refuse("it expands to fewer dimensions");
  return expand_to(call.self(), wanted);
}

TensorTypes expand_as(const Bound& call) {
  return expand_to(call.self(), call.tensor("other").shape);
}

TensorTypes repeat(const Bound& call) {
  Sizes times = call.sizes(call.schema().find("dims") ? "dims" : "repeats");
  const Sizes& shape = call.self().shape;
  if (times.size() < shape.size()) times.insert(times.begin(), shape.size() - times.size(), 1);
  const std::size_t added = times.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) times[added + i] = times[added + i] * shape[i];
  return {like(call.self(), std::move(times))};
}

TensorTypes diagonal(const Bound& call) {
  Sizes shape = call.self().shape;
  const std::size_t first = call.axis("dim1", shape.size());
  const std::size_t second = call.axis("dim2", shape.size());
  const std::int64_t offset = call.integer("offset");
  const Expr rows = shape.at(first) + Expr(std::min<std::int64_t>(offset, 0));
  const Expr columns = shape.at(second) - Expr(std::max<std::int64_t>(offset, 0));
  Sizes result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != first && i != second) result.push_back(shape[i]);
  }
  result.push_back(symbolic::max(symbolic::min(rows, columns), 0));
  TensorType made = like(call.self(), std::move(result));
  const Sizes strides = strides_of(call.self());
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (i != first && i != second) made.strides.push_back(strides[i]);
  }
  made.strides.push_back(strides[first] + strides[second]);
  return {made};
}

TensorTypes unfold(const Bound& call) {
  Sizes shape = call.self().shape;
  if (shape.empty()) return {like(call.self(), {call.size("size")})};  // a row of one element
  const std::size_t axis = call.axis("dimension", shape.size());
  const Expr size = call.size("size");
  shape.at(axis) = symbolic::floor_div(shape.at(axis) - size, call.size("step")) + 1;
  shape.push_back(size);
  TensorType made = like(call.self(), std::move(shape));
  made.strides = strides_of(call.self());
  made.strides.push_back(made.strides.at(axis));
  made.strides[axis] = made.strides[axis] * call.size("step");
  return {made};
}

TensorTypes rotated(const Bound& call) {
  Sizes shape = call.self().shape;
  const std::vector<std::int64_t> dims = call.integers("dims");
  if (dims.size() != 2) call.refuse("it turns in two dimensions");
  if (call.integer("k") % 2 != 0)
    std::swap(shape.at(call.axis(dims[0], shape.size())),
              shape.at(call.axis(dims[1], shape.size())));
  return {like(call.self(), std::move(shape))};
}

// atleast_1d, atleast_2d, atleast_3d: of a tensor, or of each of a list
TensorTypes at_least(const Bound& call) {
  const std::size_t wanted = static_cast<std::size_t>(call.name()[8] - '0');
  std::vector<const Value*> tensors;
  if (call.schema().find("tensors")) {
    tensors = call.tensors("tensors");
  } else {
    tensors.push_back(&call.self());
  }
  TensorTypes results;
  for (const Value* tensor : tensors) {
    Sizes shape = tensor->shape;
    if (wanted == 3 && shape.size() == 2) {
      shape.emplace_back(1);
    } else {
      if (wanted == 3 && shape.size() == 1) shape = {1, shape[0], 1};
      if (shape.size() < wanted) shape.insert(shape.begin(), wanted - shape.size(), 1);
    }
    results.push_back(like(*tensor, std::move(shape)));
  }
  return results;
}

TensorTypes strided(const Bound& call) {
  return {{call.self().dtype, call.sizes("size"), call.sizes("stride")}};
}

// Where nothing is summed it is the tensor itself, and integers stay what they are.
TensorTypes summed_to(const Bound& call) {
  const Value& self = call.self();
  Sizes shape = call.sizes("size");
  const bool sums = counts_up(self.dtype) && shape != self.shape;
  const DType dtype = sums ? DType::kInt64 : self.dtype;
  return {{dtype, std::move(shape), {}}};
}

// diag(x): a matrix of a vector, or the diagonal of a matrix
TensorTypes diag(const Bound& call) {
  const Value& self = call.self();
  const std::int64_t offset = call.integer("diagonal");
  if (self.rank() == 1) {
    const Expr size = self.shape[0] + std::abs(offset);
    return {like(self, {size, size})};
  }
  if (self.rank() != 2) call.refuse("it needs a vector or a matrix");
  const Expr rows = self.shape[0] + std::min<std::int64_t>(offset, 0);
  const Expr columns = self.shape[1] - std::max<std::int64_t>(offset, 0);
  return {like(self, {symbolic::max(symbolic::min(rows, columns), 0)})};
}

TensorTypes diag_flat(const Bound& call) {
  const Expr size = symbolic::product(call.self().shape) + std::abs(call.integer("offset"));
  return {like(call.self(), {size, size})};
}

TensorTypes diag_embed(const Bound& call) {
  Sizes shape = call.self().shape;
  if (shape.empty()) call.refuse("a 0-d tensor has no diagonal");
  const std::size_t rank = shape.size() + 1;
  const Expr size = shape.back() + std::abs(call.integer("offset"));
  shape.pop_back();
  std::size_t first = call.axis("dim1", rank), second = call.axis("dim2", rank);
  if (first > second) std::swap(first, second);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(first), size);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(second), size);
  return {like(call.self(), std::move(shape))};
}

TensorTypes trace(const Bound& call) {
  const DType own = call.self().dtype;
  const bool counts = base::is_integer(own) || own == DType::kBool;
  return {{counts ? DType::kInt64 : own, {}, {}}};
}

constexpr ResultRow kRows[] = {
    {"view reshape _unsafe_view", viewed},
    {"view_as reshape_as", like_other},
    {"flatten", flatten},
    {"ravel", ravel},
    {"unflatten", unflatten},
    {"permute", permute},
    {"transpose swapaxes swapdims", transpose},
    {"t numpy_T", reversed},
    {"mT mH adjoint matrix_H", matrix_transpose},
    {"movedim moveaxis", movedim},
    {"squeeze", squeeze},
    {"unsqueeze", unsqueeze},
    {"select", select},
    {"slice", slice},
    {"narrow", narrow},
    {"expand broadcast_to", expand},
    {"expand_as", expand_as},
    {"repeat tile", repeat},
    {"diagonal linalg_diagonal", diagonal},
    {"rot90", rotated},
    {"atleast_1d atleast_2d atleast_3d", at_least},
    {"as_strided", strided},
    {"sum_to_size", summed_to},
    {"diag", diag},
    {"diagflat", diag_flat},
    {"diag_embed", diag_embed},
    {"trace", trace},
    {"unfold", unfold},
};

}  // namespace

std::span<const ResultRow> view_results() { return kRows; }

}  // namespace sardonyx::program

// Results of what joins tensors, and takes them apart.
#include <algorithm>

#include "program/inference/bound_call.h"
#include "symbolic/positions.h"

namespace sardonyx::program {
namespace {

constexpr std::int64_t kMaxParts = 100000;

TensorType joined_type(const Bound& call, const std::vector<const Value*>& tensors) {
  if (tensors.empty()) call.refuse("it joins no tensors");
  Promotion promotion;
  for (const Value* tensor : tensors) {
    if (!tensor) call.refuse("it joins what is no tensor");
    promotion.add(*tensor);
  }
  return {promotion.dtype(), {}, {}};
}

// A 1-d tensor without elements joins any.
bool is_nothing(const Value& tensor) { return tensor.rank() == 1 && tensor.shape[0].is(0); }

TensorTypes cat_along(const Bound& call, std::int64_t dim) {
  const auto tensors = call.tensors("tensors");
  TensorType result = joined_type(call, tensors);
  const Value* first = nullptr;
  Expr length = 0;
  for (const Value* tensor : tensors) {
    if (is_nothing(*tensor)) continue;
    if (!first) first = tensor;
    if (tensor->rank() != first->rank()) call.refuse("it joins tensors of different ranks");
    length = length + tensor->shape.at(call.axis(dim, first->rank()));
  }
  if (!first) return {{result.dtype, {0}, {}}};
  result.shape = first->shape;
  // A size that is known of one holds for all.
  for (const Value* tensor : tensors) {
    if (is_nothing(*tensor)) continue;
    for (std::size_t i = 0; i < result.shape.size(); ++i)
      if (tensor->shape[i].is_constant()) result.shape[i] = tensor->shape[i];
  }
  result.shape.at(call.axis(dim, first->rank())) = length;
  return {result};
}

TensorTypes cat(const Bound& call) { return cat_along(call, call.integer("dim")); }

TensorTypes hstack(const Bound& call) {
  const auto tensors = call.tensors("tensors");
  if (tensors.empty() || !tensors[0] || tensors[0]->rank() == 0)
    call.refuse("it stacks 0-d tensors");
  return cat_along(call, tensors[0]->rank() == 1 ? 0 : 1);
}

TensorTypes vstack(const Bound& call) {
  const auto tensors = call.tensors("tensors");
  const TensorType type = joined_type(call, tensors);
  std::vector<Sizes> rows;
  for (const Value* tensor : tensors) {
    rows.push_back(tensor->shape);
    if (rows.back().size() < 2) rows.back().insert(rows.back().begin(), 2 - tensor->rank(), 1);
  }
  Sizes shape = rows.front();
  shape[0] = 0;
  for (const Sizes& each : rows) {
    if (each.size() != shape.size()) call.refuse("it joins tensors of different ranks");
    shape[0] = shape[0] + each[0];
    for (std::size_t i = 1; i < shape.size(); ++i)
      if (each[i].is_constant()) shape[i] = each[i];
  }
  return {{type.dtype, std::move(shape), {}}};
}

TensorTypes stack(const Bound& call) {
  const auto tensors = call.tensors("tensors");
  TensorType result = joined_type(call, tensors);
  result.shape = tensors[0]->shape;
  const std::size_t axis = call.axis("dim", result.shape.size() + 1);
  result.shape.insert(result.shape.begin() + static_cast<std::ptrdiff_t>(axis),
                      static_cast<std::int64_t>(tensors.size()));
  return {result};
}

// `self` cut into these lengths along an axis.
TensorTypes parts(const Value& self, std::size_t axis, const Sizes& lengths) {
  TensorTypes results;
  for (const Expr length : lengths) {
    TensorType part = like(self);
    part.shape.at(axis) = length;
    if (axis > 0 && !(length == self.shape[axis])) part.strides = strides_of(self);
    results.push_back(std::move(part));
  }
  return results;
}

Sizes cut(const Bound& call, Expr whole, std::int64_t length) {
  if (!whole.is_constant()) {
    call.refuse("into how many parts it cuts a dimension of " + whole.str() +
                " is not known beforehand");
  }
  if (length == 0 && whole.is(0)) return {0};
  if (length <= 0) call.refuse("parts of no length");
  Sizes lengths;
  for (std::int64_t rest = whole.value(); rest > 0; rest -= length) {
    lengths.emplace_back(std::min(rest, length));
    if (static_cast<std::int64_t>(lengths.size()) > kMaxParts) call.refuse("too many parts");
  }
  if (lengths.empty()) lengths.emplace_back(0);
  return lengths;
}

TensorTypes split(const Bound& call) {
  const Value& self = call.self();
  const std::size_t axis = call.axis("dim", self.rank());
  if (call.schema().find("split_sizes")) return parts(self, axis, call.sizes("split_sizes"));
  if (call.schema().overload == "sizes") return parts(self, axis, call.sizes("split_size"));
  return parts(self, axis, cut(call, self.shape.at(axis), call.integer("split_size")));
}

TensorTypes chunk(const Bound& call) {
  const Value& self = call.self();
  const std::size_t axis = call.axis("dim", self.rank());
  const std::int64_t count = call.integer("chunks");
  const Expr whole = self.shape.at(axis);
  if (count <= 0) call.refuse("no parts");
  if (!whole.is_constant()) {
    if (symbolic::exact_quotient(whole, count).known())
      return parts(self, axis,
                   Sizes(static_cast<std::size_t>(count), symbolic::exact_quotient(whole, count)));
    call.refuse("into how many parts it cuts a dimension of " + whole.str() +
                " is not known beforehand");
  }
  // Of nothing there are as many parts as are asked for.
  if (whole.is(0) && count <= kMaxParts)
    return parts(self, axis, Sizes(static_cast<std::size_t>(count), 0));
  return parts(self, axis,
               cut(call, whole, std::max<std::int64_t>((whole.value() + count - 1) / count, 1)));
}

TensorTypes unbind(const Bound& call) {
  const Value& self = call.self();
  const std::size_t axis = call.axis("dim", self.rank());
  const Expr count = self.shape.at(axis);
  if (!count.is_constant() || count.value() > kMaxParts) {
    call.refuse("into how many parts it takes a dimension of " + count.str() +
                " apart is not known beforehand");
  }
  TensorType part = like(self, {});
  const Sizes strides = strides_of(self);
  for (std::size_t i = 0; i < self.rank(); ++i) {
    if (i == axis) continue;
    part.shape.push_back(self.shape[i]);
    if (axis > 0 || !self.strides.empty()) part.strides.push_back(strides[i]);
  }
  return TensorTypes(static_cast<std::size_t>(count.value()), part);
}

// Every tensor, as large as all of them.
TensorTypes meshgrid(const Bound& call) {
  const auto tensors = call.tensors("tensors");
  TensorType result = joined_type(call, tensors);
  for (const Value* tensor : tensors)
    result.shape.push_back(tensor->rank() == 0 ? Expr(1) : tensor->shape[0]);
  const auto position = call.schema().find("indexing");
  const std::string* order = position ? call.arguments()[*position].get<std::string>() : nullptr;
  if (order && *order == "xy" && result.shape.size() > 1)
    std::swap(result.shape[0], result.shape[1]);
  return TensorTypes(tensors.size(), result);
}

TensorTypes broadcast_tensors(const Bound& call) {
  const auto tensors = call.tensors("tensors");
  Sizes shape;
  for (const Value* tensor : tensors) shape = call.broadcast(shape, tensor->shape);
  TensorTypes results;
  for (const Value* tensor : tensors) results.push_back(like(*tensor, shape));
  return results;
}

// Of as many parts as are asked for, the first of which are one longer.
TensorTypes even_parts(const Bound& call, std::size_t axis, std::int64_t count) {
  if (count <= 0 || count > kMaxParts) call.refuse("a number of parts that is not possible");
  const Expr whole = call.self().shape.at(axis);
  Sizes lengths;
  for (std::int64_t i = 0; i < count; ++i)
    lengths.push_back(symbolic::floor_div(whole + Expr(count - 1 - i), count));
  return parts(call.self(), axis, lengths);
}

TensorTypes parts_between(const Bound& call, std::size_t axis, const Sizes& positions) {
  const Expr whole = call.self().shape.at(axis);
  Sizes lengths;
  Expr start = 0;
  for (std::size_t i = 0; i <= positions.size(); ++i) {
    const Expr end =
        i == positions.size() ? whole : symbolic::clamped_position(positions[i], whole);
    lengths.push_back(symbolic::max(end - start, 0));
    start = end;
  }
  return parts(call.self(), axis, lengths);
}

// tensor_split(x, 3), tensor_split(x, [1, 4]), hsplit, vsplit, dsplit
TensorTypes tensor_split(const Bound& call) {
  const std::size_t rank = call.self().rank();
  const std::string_view name = call.name();
  const std::size_t axis = name == "tensor_split" ? call.axis("dim", rank)
                           : name == "vsplit"     ? 0
                           : name == "dsplit"     ? 2
                           : rank == 1            ? 0
                                                  : 1;
  if (axis >= rank) call.refuse("it cuts a dimension that is not there");
  if (call.schema().find("sections")) return even_parts(call, axis, call.integer("sections"));
  if (!call.schema().find("indices")) call.refuse("it cuts at positions of data");
  return parts_between(call, axis, call.sizes("indices"));
}

// column_stack, dstack: each with as many dimensions as it needs
TensorTypes stack_deeper(const Bound& call) {
  const bool deep = call.name() == "dstack";
  const auto tensors = call.tensors("tensors");
  TensorType result = joined_type(call, tensors);
  Expr length = 0;
  for (const Value* tensor : tensors) {
    Sizes shape = tensor->shape;
    if (deep && shape.size() < 2) shape.insert(shape.begin(), 2 - shape.size(), 1);
    if (shape.size() < 2) shape.resize(2, 1);
    if (deep && shape.size() == 2) shape.emplace_back(1);
    length = length + shape.at(deep ? 2 : 1);
    result.shape = std::move(shape);
  }
  if (!deep && tensors[0]->rank() == 0) result.shape[0] = 1;
  result.shape.at(deep ? 2 : 1) = length;
  return {result};
}

TensorTypes block_diagonal(const Bound& call) {
  const auto tensors = call.tensors("tensors");
  TensorType result = joined_type(call, tensors);
  Expr rows = 0, columns = 0;
  for (const Value* tensor : tensors) {
    const std::size_t rank = tensor->rank();
    rows = rows + (rank < 2 ? Expr(1) : tensor->shape[0]);
    columns = columns + (rank == 0 ? Expr(1) : tensor->shape.back());
  }
  result.shape = {rows, columns};
  return {result};
}

TensorTypes cartesian_product(const Bound& call) {
  const auto tensors = call.tensors("tensors");
  TensorType result = joined_type(call, tensors);
  Expr rows = 1;
  for (const Value* tensor : tensors) rows = rows * symbolic::product(tensor->shape);
  result.shape = {rows};
  if (tensors.size() > 1) result.shape.emplace_back(static_cast<std::int64_t>(tensors.size()));
  return {result};
}

// Each choice of `r` elements, one in a row.
TensorTypes combinations(const Bound& call) {
  const std::int64_t r = call.integer("r");
  constexpr std::int64_t kMax = 10;
  if (r < 0 || r > kMax) call.refuse("so many elements in each choice");
  if (r == 0) return {like(call.self(), {0})};
  const Expr count = symbolic::product(call.self().shape);
  Expr ways = 1;
  std::int64_t orders = 1;
  for (std::int64_t i = 0; i < r; ++i) {
    ways = ways * (call.flag("with_replacement") ? count + i : count - i);
    orders *= i + 1;
  }
  return {like(call.self(), {symbolic::floor_div(ways, orders), r})};
}

// Sequences of different lengths, filled up to the longest.
TensorTypes pad_sequence(const Bound& call) {
  const auto tensors = call.tensors("sequences");
  TensorType result = joined_type(call, tensors);
  Expr longest = tensors[0]->shape.at(0);
  for (const Value* tensor : tensors) longest = symbolic::max(longest, tensor->shape.at(0));
  const Expr count = static_cast<std::int64_t>(tensors.size());
  result.shape = call.flag("batch_first") ? Sizes{count, longest} : Sizes{longest, count};
  result.shape.insert(result.shape.end(), tensors[0]->shape.begin() + 1, tensors[0]->shape.end());
  return {result};
}

constexpr ResultRow kRows[] = {
    {"cat concat concatenate", cat},
    {"stack", stack},
    {"hstack", hstack},
    {"vstack row_stack", vstack},
    {"split split_with_sizes unsafe_split unsafe_split_with_sizes", split},
    {"chunk unsafe_chunk", chunk},
    {"tensor_split hsplit vsplit dsplit", tensor_split},
    {"column_stack dstack", stack_deeper},
    {"block_diag", block_diagonal},
    {"cartesian_prod", cartesian_product},
    {"combinations", combinations},
    {"pad_sequence", pad_sequence},
    {"unbind", unbind},
    {"meshgrid", meshgrid},
    {"broadcast_tensors", broadcast_tensors},
};

}  // namespace

std::span<const ResultRow> joining_results() { return kRows; }

}  // namespace sardonyx::program

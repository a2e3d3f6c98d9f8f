// Results of those of PyTorch's primitives that differ from ATen's operators of their names.
#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

TensorTypes with_shape(const Bound& call, Sizes shape) {
  return {like(call.self(), std::move(shape))};
}

Sizes without_dims(const Bound& call) {
  const Sizes& shape = call.self().shape;
  const std::vector<std::int64_t> dims =
      call.has("dims") ? call.integers("dims") : std::vector<std::int64_t>();
  if (dims.empty()) return {};
  std::vector<bool> gone(shape.size());
  for (const std::int64_t dim : dims) gone.at(call.axis(dim, shape.size())) = true;
  Sizes rest;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!gone[i]) rest.push_back(shape[i]);
  return rest;
}

TensorTypes extreme(const Bound& call) {
  return {{call.dtype("output_dtype").value_or(call.self().dtype), without_dims(call), {}}};
}

TensorTypes total(const Bound& call) {
  const DType own = call.self().dtype;
  const DType standard = counts_up(own) ? DType::kInt64 : own;
  return {{call.dtype("output_dtype").value_or(standard), without_dims(call), {}}};
}

TensorTypes variance(const Bound& call) {
  const DType standard = base::real_of(call.self().dtype);
  return {{call.dtype("output_dtype").value_or(standard), without_dims(call), {}}};
}

TensorTypes permuted(const Bound& call) {
  const Value& self = call.self();
  const Sizes strides = strides_of(self);
  TensorType result = like(self, {});
  for (const std::int64_t dim : call.integers("permutation")) {
    const std::size_t axis = call.axis(dim, self.rank());
    result.shape.push_back(self.shape.at(axis));
    result.strides.push_back(strides.at(axis));
  }
  return {result};
}

TensorTypes squeezed(const Bound& call) {
  const Value& self = call.self();
  std::vector<bool> gone(self.rank());
  for (const std::int64_t dim : call.integers("dimensions"))
    gone.at(call.axis(dim, self.rank())) = true;
  const Sizes strides = strides_of(self);
  TensorType result = like(self, {});
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) continue;
    result.shape.push_back(self.shape[i]);
    if (!self.strides.empty()) result.strides.push_back(strides[i]);
  }
  return {result};
}

TensorTypes split_axis(const Bound& call) {
  Sizes shape = call.self().shape;
  const std::size_t axis = call.axis("dim", shape.size());
  const Expr outer = call.size("outer_length"), whole = shape.at(axis);
  const Expr exact = symbolic::exact_quotient(whole, outer);
  shape[axis] = exact.known() ? exact : symbolic::floor_div(whole, outer);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), outer);
  return with_shape(call, std::move(shape));
}

TensorTypes collapsed(const Bound& call) {
  const Sizes& shape = call.self().shape;
  const std::size_t start = call.axis("start", shape.size()), end = call.axis("end", shape.size());
  Sizes result;
  Expr flat = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_inside = i >= start && i <= end;
    if (is_inside) flat = flat * shape[i];
    if (!is_inside) result.push_back(shape[i]);
    if (i == end) result.push_back(flat);
  }
  return with_shape(call, std::move(result));
}

TensorTypes broadcast(const Bound& call) { return with_shape(call, call.sizes("shape")); }

TensorTypes counted(const Bound& call) {
  return {{call.dtype().value_or(DType::kInt64), {call.size("length")}, {}}};
}

// Integers stay integers.
TensorTypes quotient(const Bound& call) {
  const Value &left = call.self(), &right = call.tensor("other");
  return {like(left, call.broadcast(left.shape, right.shape))};
}

constexpr ResultRow kRows[] = {
    {"prims::amax prims::amin", extreme},
    {"prims::sum prims::prod", total},
    {"prims::xor_sum", extreme},
    {"prims::var", variance},
    {"prims::transpose", permuted},
    {"prims::squeeze", squeezed},
    {"prims::split_dim", split_axis},
    {"prims::collapse prims::collapse_view", collapsed},
    {"prims::broadcast_in_dim", broadcast},
    {"prims::iota", counted},
    {"prims::div", quotient},
};

}  // namespace

std::span<const ResultRow> prims_results() { return kRows; }

}  // namespace sardonyx::program

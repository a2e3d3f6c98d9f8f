// Reshaping and indexing by axes and symbolic sizes, in the simplest form that says it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/diagnostic.h"
#include "kernels/small_float.h"
#include "onnx/emit/emit.h"
#include "onnx/gen/op.h"

namespace sardonyx::onnx {

bool may_be_zero(Expr size) {
  if (!size.known()) return true;
  if (symbolic::certainly_positive(size)) return false;
  if (size.is_constant()) return true;
  if (symbolic::depends_on_data(size)) return true;
  return size.kind() == symbolic::Kind::kMax || size.kind() == symbolic::Kind::kMin;
}

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

std::int64_t normalized(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank)
    base::fail("SX1502", fmt::format("axis {} is out of range for rank {}", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::int64_t> normalized(std::span<const std::int64_t> axes, std::int64_t rank) {
  std::vector<std::int64_t> result;
  for (const std::int64_t axis : axes) result.push_back(normalized(axis, rank));
  return result;
}

bool same_shape(const Shape& a, std::span<const Expr> b) {
  return std::ranges::equal(a, b, [](Expr x, Expr y) { return x == y; });
}

// Reshape, Squeeze, Unsqueeze and Flatten only say how elements are laid out: what they read.
Value unshaped(Value x) {
  while (const Node* node = x->producer) {
    const bool reshaping =
        node->is("Reshape") || node->is("Squeeze") || node->is("Unsqueeze") || node->is("Flatten");
    if (!reshaping || !node->input(0)->has_rank) break;
    x = node->input(0);
  }
  return x;
}

// How a target shape is written for Reshape: constants, 0 for a dim that stays in place, -1 for one
// that follows from the others, and sizes where a value is needed.
struct ReshapePlan {
  std::vector<Expr> entries;
  bool needs_values = false;
  bool zero_is_zero = false;
};

// A 0 among the sizes and a dim that is copied cannot be told apart: with allowzero every 0 is one.
ReshapePlan spelt_out(std::span<const Expr> shape) {
  ReshapePlan plan;
  plan.entries.assign(shape.begin(), shape.end());
  plan.needs_values = std::ranges::any_of(shape, [](Expr dim) { return !dim.is_constant(); });
  plan.zero_is_zero = true;
  return plan;
}

ReshapePlan plan_reshape(const Shape& from, std::span<const Expr> shape) {
  ReshapePlan plan;
  plan.entries.assign(shape.begin(), shape.end());
  std::vector<std::size_t> open;  // neither constant nor in place
  bool others_positive = true;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].is_constant()) {
      plan.zero_is_zero = plan.zero_is_zero || shape[i].is(0);
      others_positive = others_positive && !shape[i].is(0);
    } else if (i < from.size() && from[i] == shape[i]) {
      plan.entries[i] = 0;
      others_positive = others_positive && !may_be_zero(shape[i]);
    } else {
      open.push_back(i);
    }
  }
  if (plan.zero_is_zero) return spelt_out(shape);
  if (open.empty()) return plan;
  // The dim that is dearest to compute is left to Reshape.
  const std::size_t inferred = *std::ranges::max_element(open, {}, [&](std::size_t i) {
    return shape[i].is_symbol() ? 0U : shape[i].operands().size() + 1;
  });
  bool reads_zero = false;  // a size that is read is 0 at run time, where 0 means to copy
  for (const std::size_t i : open) {
    if (i == inferred) continue;
    others_positive = others_positive && !may_be_zero(shape[i]);
    reads_zero = reads_zero || !symbolic::certainly_positive(shape[i]);
  }
  if (reads_zero) return spelt_out(shape);
  if (others_positive) plan.entries[inferred] = -1;
  plan.needs_values = open.size() > 1 || !others_positive;
  return plan;
}

bool may_be_any(Expr size) { return !size.is_constant() && !symbolic::certainly_positive(size); }

}  // namespace

Value Emit::reshape(Value x, std::span<const Expr> shape) {
  if (x.has_rank() && same_shape(x.shape(), shape)) return x;
  x = x.has_rank() ? unshaped(x) : x;
  const Shape from = x.has_rank() ? x.shape() : Shape();
  if (x.has_rank() && same_shape(from, shape)) return x;
  for (const Expr dim : shape)
    if (!dim.known()) base::fail("SX1402", "a dim of the new shape is not known");

  const ReshapePlan plan = plan_reshape(from, shape);
  const Value wanted = sizes(plan.entries);
  Value y = Operators::reshape(x, wanted, {.allowzero = plan.zero_is_zero ? 1 : 0});
  if (!y.is_constant()) set_type(y, x.dtype(), Shape(shape.begin(), shape.end()));
  return y;
}

Value Emit::reshape(Value x, std::initializer_list<Expr> shape) {
  return reshape(x, std::span(shape.begin(), shape.size()));
}

Value Emit::reshape_of_any_size(Value x, std::span<const Expr> shape) {
  if (x.has_rank() && same_shape(x.shape(), shape)) return x;
  if (!std::ranges::any_of(shape, may_be_any)) return reshape(x, shape);
  const Value y = Operators::reshape(x, sizes(shape), {.allowzero = 1});
  if (!y.is_constant()) set_type(y, x.dtype(), Shape(shape.begin(), shape.end()));
  return y;
}

Value Emit::reshape_like(Value x, Value like) {
  const Shape shape = like.shape();
  const bool known = std::ranges::all_of(shape, [](Expr dim) { return dim.known(); });
  if (known && x.has_rank() && !plan_reshape(unshaped(x).shape(), shape).needs_values)
    return reshape(x, shape);
  const Value y = Operators::reshape(x, Operators::shape(like));
  set_type(y, x.dtype(), shape);
  return y;
}

Value Emit::expand(Value x, std::span<const Expr> shape) {
  if (x.has_rank() && same_shape(x.shape(), shape)) return x;
  std::vector<Expr> wanted(shape.begin(), shape.end());
  if (x.has_rank() && x.shape().size() <= shape.size()) {
    const std::size_t offset = shape.size() - x.shape().size();
    // Expand broadcasts in both directions: 1 leaves a dim as it is.
    for (std::size_t i = offset; i < shape.size(); ++i)
      if (!wanted[i].is_constant() && x.shape()[i - offset] == wanted[i]) wanted[i] = 1;
  }
  const Value y = Operators::expand(x, sizes(wanted));
  if (!y.is_constant()) set_type(y, x.dtype(), Shape(shape.begin(), shape.end()));
  return y;
}

Value Emit::transpose(Value x, std::span<const std::int64_t> permutation) {
  return Operators::transpose(x, {.perm = normalized(permutation, x.rank())});
}

Value Emit::transpose(Value x, std::initializer_list<std::int64_t> permutation) {
  return transpose(x, std::span(permutation.begin(), permutation.size()));
}

Value Emit::swap_axes(Value x, std::int64_t a, std::int64_t b) {
  const std::int64_t rank = x.rank();
  std::vector<std::int64_t> permutation(static_cast<std::size_t>(rank));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[static_cast<std::size_t>(normalized(a, rank))],
            permutation[static_cast<std::size_t>(normalized(b, rank))]);
  return transpose(x, permutation);
}

Value Emit::unsqueeze(Value x, std::span<const std::int64_t> axes) {
  if (axes.empty()) return x;
  const std::int64_t rank = x.rank() + static_cast<std::int64_t>(axes.size());
  std::vector<std::int64_t> positions = normalized(axes, rank);
  std::ranges::sort(positions);
  return Operators::unsqueeze(x, ints(positions));
}

Value Emit::unsqueeze(Value x, std::initializer_list<std::int64_t> axes) {
  return unsqueeze(x, std::span(axes.begin(), axes.size()));
}

Value Emit::squeeze(Value x, std::span<const std::int64_t> axes) {
  if (axes.empty()) return x;
  std::vector<std::int64_t> positions = normalized(axes, x.rank());
  std::ranges::sort(positions);
  return Operators::squeeze(x, ints(positions));
}

Value Emit::squeeze(Value x, std::initializer_list<std::int64_t> axes) {
  return squeeze(x, std::span(axes.begin(), axes.size()));
}

Value Emit::flatten_to_1d(Value x) {
  if (x.has_rank() && x.rank() == 1) return x;
  return Operators::reshape(x, ints({-1}));
}

Value Emit::concat(std::span<const Value> parts, std::int64_t axis) {
  return Operators::concat(
      parts, {.axis = parts.front().has_rank() ? normalized(axis, parts.front().rank()) : axis});
}

Value Emit::concat(std::initializer_list<Value> parts, std::int64_t axis) {
  return concat(std::span(parts.begin(), parts.size()), axis);
}

Value Emit::slice(Value x, std::int64_t axis, Expr start, Expr end, Expr step) {
  axis = normalized(axis, x.rank());
  // PyTorch refuses steps below 1. ONNX refuses 0, but walks backwards below it.
  if (!step.is_constant()) step = symbolic::max(step, 0);
  // The end of the axis is written as a constant, so that no size is read for it.
  const bool is_forward = !step.is_constant() || step.value() > 0;
  if (is_forward && end == x.dim(axis)) end = kEnd;
  const Value steps = step.is(1) ? Value() : sizes({step}), axes = ints({axis}),
              ends = sizes({end}), starts = sizes({start});
  return Operators::slice(x, starts, ends, axes, steps);
}

Value Emit::select(Value x, std::int64_t axis, Expr index) {
  return Operators::gather(x, size(index), {.axis = normalized(axis, x.rank())});
}

Value Emit::full(std::span<const Expr> shape, Value scalar) {
  if (shape.empty()) return scalar.is_scalar() ? scalar : reshape(scalar, {});
  if (!scalar.is_constant() || scalar.dtype() == DType::kString) return expand(scalar, shape);
  Tensor one = *scalar.constant();
  one.dims = {1};
  one.strides.clear();
  return constant_of_shape(sizes(shape), {.value = std::move(one)});
}

Value Emit::range(Expr count) {
  // One after the other: compilers differ in which argument of a call comes first.
  const Value step = int_scalar(1), end = size(count), start = int_scalar(0);
  const Value positions = range(start, end, step);
  if (!positions.is_constant() && count.known()) set_type(positions, DType::kInt64, {count});
  return positions;
}

Value Emit::with_rank(Value x, std::int64_t rank) {
  if (x.rank() >= rank) return x;
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank - x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return unsqueeze(x, axes);
}

Value Emit::cast(Value x, DType to) {
  if (x.dtype() == to) return x;
  if (!kernels::is_float8(to) || kernels::saturates(to)) return Operators::cast(x, {.to = to});
  return Operators::cast(x, {.saturate = 0, .to = to});
}

Value Emit::identity(Value x) {
  return emit_node(operator_of(Op::kIdentity), {&x, 1}, {}, 1).front();
}

Value Emit::reduce(std::string_view op_type, Value x, std::span<const std::int64_t> axes,
                   bool keep_dims) {
  if (axes.empty()) return x;
  const Operator* op = find_operator(op_type);
  if (op == nullptr) base::fail("SX1503", fmt::format("there is no operator {}", op_type));
  std::vector<std::int64_t> positions = normalized(axes, x.rank());
  std::ranges::sort(positions);
  std::vector<Attribute> attributes;
  attributes.push_back({"keepdims", std::int64_t{keep_dims ? 1 : 0}, {}});
  const Value inputs[] = {x, ints(positions)};
  return build(*op, inputs, std::move(attributes), 1).front();
}

}  // namespace sardonyx::onnx

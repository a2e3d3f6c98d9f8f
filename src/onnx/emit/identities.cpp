// Operators that change nothing, undo the one before or add up nothing: the value that is there.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/small_float.h"
#include "onnx/emit/emit.h"
#include "onnx/emit/emit_state.h"
#include "onnx/gen/op.h"
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

using AttributeSpan = std::span<const Attribute>;

// Every value of `from` is one of `to`, and comes back the same.
bool lossless(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::kBool) return to != DType::kString;
  if (base::is_integer(from) && base::is_integer(to)) {
    if (base::is_unsigned(from) == base::is_unsigned(to))
      return base::bit_width(from) <= base::bit_width(to);
    return base::is_unsigned(from) && base::bit_width(from) < base::bit_width(to);
  }
  if (base::is_integer(from))
    return (to == DType::kFloat32 && base::bit_width(from) <= 16) ||
           (to == DType::kFloat64 && base::bit_width(from) <= 32);
  const bool half = from == DType::kFloat16 || from == DType::kBFloat16;
  if (half) return to == DType::kFloat32 || to == DType::kFloat64;
  return from == DType::kFloat32 && to == DType::kFloat64;
}

Value same_cast(Emit& onnx, Value x, AttributeSpan attributes) {
  const auto to = static_cast<DType>(int_attribute(attributes, "to", 0));
  if (x.dtype() == to) return x;
  const Node* before = x->producer;
  if (before == nullptr || !before->is("Cast")) return {};
  // The Cast of a model that was there may do otherwise than PyTorch's.
  if (kernels::is_float8(to) &&
      (int_attribute(attributes, "saturate", 1) != 0) != kernels::saturates(to))
    return {};
  const Value first = before->input(0);
  // What went up without loss and comes down again.
  if (lossless(first.dtype(), x.dtype())) return onnx.cast(first, to);
  return {};
}

bool in_order(const std::vector<std::int64_t>& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

Value same_transpose(Emit& onnx, Value x, AttributeSpan attributes) {
  const auto* permutation = ints_attribute(attributes, "perm");
  if (!x.has_rank()) return {};
  if (x.rank() <= 1) return x;
  if (permutation == nullptr) return {};
  if (in_order(*permutation)) return x;
  const Node* before = x->producer;
  const auto* first = before != nullptr && before->is("Transpose") ? before->ints("perm") : nullptr;
  if (first == nullptr || first->size() != permutation->size()) return {};
  for (const std::int64_t axis : *permutation)
    if (axis < 0 || axis >= x.rank()) return {};
  std::vector<std::int64_t> both;
  for (const std::int64_t axis : *permutation)
    both.push_back((*first)[static_cast<std::size_t>(axis)]);
  return onnx.transpose(Value(before->input(0)), both);
}

bool keeps_shape(Value x, const std::vector<Expr>& wanted, bool zero_copies, bool one_keeps) {
  if (!x.has_rank() || x.shape().size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (zero_copies && wanted[i].is(0)) continue;
    if (one_keeps && wanted[i].is(1)) continue;
    if (!(wanted[i] == x.shape()[i])) return false;
  }
  return true;
}

Value same_reshape(Value x, Value shape, AttributeSpan attributes) {
  const auto wanted = contents_of(shape.info());
  if (!wanted) return {};
  // One -1 beside dims that all stay must stay too.
  std::vector<Expr> dims = *wanted;
  const auto inferred = std::ranges::find_if(dims, [](Expr dim) { return dim.is(-1); });
  if (inferred != dims.end() && x.has_rank() && x.shape().size() == dims.size()) {
    const Expr there = x.shape()[static_cast<std::size_t>(inferred - dims.begin())];
    *inferred = there.known() ? there : Expr(0);  // as it is, whatever that is
  }
  const bool copies = int_attribute(attributes, "allowzero", 0) == 0;
  return keeps_shape(x, dims, copies, false) ? x : Value();
}

// Nothing where the type or a size is not known.
Value zeros(Emit& onnx, const std::optional<Shape>& shape, DType dtype) {
  if (!shape || dtype == DType::kUndefined || !std::ranges::all_of(*shape, &Expr::known)) return {};
  return onnx.full(*shape, onnx.zero(dtype));
}

Value same_expand(Emit& onnx, Value x, Value shape) {
  const auto wanted = contents_of(shape.info());
  if (!wanted) return {};
  // No element is left.
  const auto none = [](Expr dim) { return dim.is(0); };
  if (std::ranges::any_of(*wanted, none) && x.has_rank() && x.dtype() != DType::kString)
    if (const Value made = zeros(onnx, broadcast(x.shape(), *wanted), x.dtype())) return made;
  // Fewer dims than x has, or as many, none of which is bigger.
  if (!x.has_rank() || wanted->size() > x.shape().size()) return {};
  std::vector<Expr> dims(x.shape().size() - wanted->size(), Expr(1));
  dims.insert(dims.end(), wanted->begin(), wanted->end());
  return keeps_shape(x, dims, false, true) ? x : Value();
}

// Squeeze of what the same Unsqueeze added, or the reverse.
Value undone(Value x, Value axes, std::string_view opposite) {
  const Node* before = x->producer;
  if (before == nullptr || !before->is(opposite) || !axes) return {};
  const auto now = axes.ints();
  const auto then = before->input(1) != nullptr ? Value(before->input(1)).ints() : std::nullopt;
  if (!now || !then || *now != *then) return {};
  for (const std::int64_t axis : *now)
    if (axis < 0) return {};
  return before->input(0);
}

bool is_number(Value x, double number) {
  // A weight can get other data, by name.
  return x.is_constant() && !x->is_weight && x.constant()->element_count() == 1 &&
         x.real() == number;
}

// One Unsqueeze for two in a row. Axes are positions in the result.
Value joined_unsqueeze(Emit& onnx, Value x, Value axes) {
  const Node* before = x->producer;
  if (before == nullptr || !before->is("Unsqueeze") || before->input(1) == nullptr) return {};
  const auto inner = Value(before->input(1)).ints(), outer = axes ? axes.ints() : std::nullopt;
  const Value base = before->input(0);
  if (!inner || !outer || !base.has_rank()) return {};
  const std::size_t rank = base.shape().size() + inner->size() + outer->size();
  std::vector<bool> added(rank, false);
  for (const std::int64_t axis : *outer) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return {};
    added[static_cast<std::size_t>(axis)] = true;
  }
  std::vector<std::size_t> kept;  // where the axes of x are in the result
  for (std::size_t i = 0; i < rank; ++i)
    if (!added[i]) kept.push_back(i);
  for (const std::int64_t axis : *inner) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(kept.size())) return {};
    added[kept[static_cast<std::size_t>(axis)]] = true;
  }
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < rank; ++i)
    if (added[i]) all.push_back(static_cast<std::int64_t>(i));
  return onnx.unsqueeze(base, all);
}

// `x op number` where the number changes nothing, and neither the shape nor (by ONNX) the dtype.
Value unless_broadcast(Value x, Value number) {
  if (!x.has_rank() || !number.has_rank() || number.rank() > x.rank()) return {};
  return x;
}

Value same_arithmetic(Op op, Value a, Value b) {
  const bool floating = base::is_floating(a.dtype());
  const auto zero = [floating](Value x, bool negative) {
    if (!is_number(x, 0)) return false;
    // -0.0 + 0.0 is 0.0; -0.0 + -0.0 and x - 0.0 are exact.
    return !floating || std::signbit(*x.real()) == negative;
  };
  switch (op) {
    case Op::kAdd:
      if (zero(b, true)) return unless_broadcast(a, b);
      return zero(a, true) ? unless_broadcast(b, a) : Value();
    case Op::kSub:
      return zero(b, false) ? unless_broadcast(a, b) : Value();
    case Op::kMul:
      if (is_number(b, 1)) return unless_broadcast(a, b);
      return is_number(a, 1) ? unless_broadcast(b, a) : Value();
    case Op::kDiv:
    case Op::kPow:
      return is_number(b, 1) ? unless_broadcast(a, b) : Value();
    case Op::kAnd:
      if (is_number(b, 1)) return unless_broadcast(a, b);
      return is_number(a, 1) ? unless_broadcast(b, a) : Value();
    case Op::kOr:
      if (is_number(b, 0)) return unless_broadcast(a, b);
      return is_number(a, 0) ? unless_broadcast(b, a) : Value();
    default:
      return {};
  }
}

Value same_slice(std::span<const Value> inputs) {
  const Value x = inputs[0];
  const auto starts = contents_of(inputs[1].info()), ends = contents_of(inputs[2].info());
  if (!starts || !ends || !x.has_rank() || starts->size() != ends->size()) return {};
  const auto axes = inputs.size() > 3 && inputs[3] ? inputs[3].ints() : std::nullopt;
  if (inputs.size() > 3 && inputs[3] && !axes) return {};
  if (inputs.size() > 4) {
    const auto steps = inputs[4].ints();
    if (!steps || !std::ranges::all_of(*steps, [](std::int64_t step) { return step == 1; }))
      return {};
  }
  for (std::size_t i = 0; i < starts->size(); ++i) {
    std::int64_t axis = axes ? (*axes)[i] : static_cast<std::int64_t>(i);
    if (axis < 0) axis += x.rank();
    if (axis < 0 || axis >= x.rank()) return {};
    const Expr dim = x.shape()[static_cast<std::size_t>(axis)];
    const Expr end = (*ends)[i];
    const bool to_end = end == dim || end.is(std::numeric_limits<std::int64_t>::max()) ||
                        (end.known() && dim.known() && symbolic::certainly_less_equal(dim, end));
    if (!(*starts)[i].is(0) || !to_end) return {};
  }
  return x;
}

Value same_concat(Emit& onnx, std::span<const Value> inputs, AttributeSpan attributes) {
  if (inputs.size() == 1) return inputs[0];
  // Pieces of no elements drop out.
  const std::int64_t axis = int_attribute(attributes, "axis", 0);
  Values kept;
  for (const Value input : inputs)
    if (!input.has_rank() || !input.dim(axis).is(0)) kept.push_back(input);
  if (kept.empty()) return inputs[0];
  return kept.size() < inputs.size() ? onnx.concat(kept, axis) : Value();
}

Value same_twice(Value x, std::string_view op) {
  return x->producer != nullptr && x->producer->is(op) ? Value(x->producer->input(0)) : Value();
}

// Sums of nothing, and products without an element.
Value product_of_nothing(Emit& onnx, Value a, Value b) {
  const auto is_matrix = [](Value x) { return x.has_rank() && x.rank() >= 2; };
  const auto is_empty = [](Value x) {
    return std::ranges::any_of(x.shape(), [](Expr dim) { return dim.is(0); });
  };
  if (!is_matrix(a) || !is_matrix(b) || (!is_empty(a) && !is_empty(b))) return {};
  const auto batch = [](const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); };
  std::optional<Shape> result = broadcast(batch(a.shape()), batch(b.shape()));
  if (!result) return {};
  result->push_back(a.dim(-2));
  result->push_back(b.dim(-1));
  return zeros(onnx, result, a.dtype());
}

bool all_are(Value x, std::int64_t number) {
  const auto ints = x ? x.ints() : std::nullopt;
  return ints && std::ranges::all_of(*ints, [number](std::int64_t n) { return n == number; });
}

}  // namespace

Value Emit::simplified(const Operator& op, std::span<const Value> inputs,
                       std::span<const Attribute> attributes) {
  switch (op.id) {
    case Op::kCast:
      return same_cast(*this, inputs[0], attributes);
    case Op::kTranspose:
      return same_transpose(*this, inputs[0], attributes);
    case Op::kReshape:
      return same_reshape(inputs[0], inputs[1], attributes);
    case Op::kExpand:
      return same_expand(*this, inputs[0], inputs[1]);
    case Op::kUnsqueeze:
      if (inputs.size() < 2) return {};
      if (const Value before = undone(inputs[0], inputs[1], "Squeeze")) return before;
      return joined_unsqueeze(*this, inputs[0], inputs[1]);
    case Op::kSqueeze:
      return inputs.size() < 2 ? Value() : undone(inputs[0], inputs[1], "Unsqueeze");
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
    case Op::kAnd:
    case Op::kOr:
      return same_arithmetic(op.id, inputs[0], inputs[1]);
    case Op::kPow:
      return same_arithmetic(op.id, inputs[0], inputs[1]);
    case Op::kSlice:
      return inputs.size() < 3 ? Value() : same_slice(inputs);
    case Op::kConcat:
      return same_concat(*this, inputs, attributes);
    case Op::kMatMul:
      return product_of_nothing(*this, inputs[0], inputs[1]);
    case Op::kMax:
    case Op::kMin:
    case Op::kSum:
    case Op::kMean:
      return inputs.size() == 1 ? inputs[0] : Value();
    // Older forms say by attributes what newer ones say by inputs.
    case Op::kClip:
      return inputs.size() == 1 && attributes.empty() ? inputs[0] : Value();
    case Op::kNot:
    case Op::kNeg:
      return same_twice(inputs[0], op.name);
    case Op::kTile:
      return all_are(inputs[1], 1) ? inputs[0] : Value();
    case Op::kPad:
      return inputs.size() > 1 && all_are(inputs[1], 0) ? inputs[0] : Value();
    case Op::kSplit:
      return inputs[0];
    default:
      return {};
  }
}

}  // namespace sardonyx::onnx

#include "targets/onnxruntime/workarounds/narrowing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "onnx/infer/inference.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;

constexpr double kMostInFloat = 1 << 24;
constexpr double kMostInInt32 = 2147483647.0;
constexpr double kLeastOfInt32 = 2147483648.0;  // without its sign
// Constants of more elements are no positions.
constexpr std::int64_t kMostElements = 1 << 20;

// Of int32 or of integers as float32; infinity where that is not known.
double most_of(Value value, int depth = 8) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (value.dtype() == kBool) return 1;
  const onnx::Node* node = value.info()->producer;
  if (node == nullptr || depth == 0) return kUnknown;
  const auto most = [&](std::size_t i) { return most_of(Value(node->input(i)), depth - 1); };
  switch (node->op) {
    case Op::kCast:
    case Op::kExpand:
    case Op::kReshape:
    case Op::kSqueeze:
    case Op::kUnsqueeze:
      return most(0);
    case Op::kCumSum:
      return most(0) * kMostRows;
    case Op::kMul:
      return most(0) * most(1);
    default:
      return kUnknown;
  }
}

bool is_of_sizes(Value value) {
  const auto contents = onnx::contents_of(value.info());
  return contents && std::ranges::all_of(*contents, [](Expr each) { return each.known(); });
}

}  // namespace

bool is_size(Value value) {
  return value && value.dtype() == kInt64 && value.has_rank() && value.rank() == 0 &&
         is_of_sizes(value);
}

Value Narrowing::sum(Value a, Value b) {
  if (!a) return b;
  return b ? onnx_.add(a, b) : a;
}

Value Narrowing::difference(Value a, Value b) { return onnx_.sub(a ? a : onnx_.zero(kInt64), b); }

Value Narrowing::as_int32(const Narrow& narrow) { return onnx_.cast(narrow.value, kInt32); }

std::optional<Narrow> Narrowing::as_float(const std::optional<Narrow>& narrow) {
  if (!narrow || narrow->most > kMostInFloat) return std::nullopt;
  return Narrow{onnx_.cast(narrow->value, kFloat32), narrow->most, narrow->is_cut};
}

std::pair<Value, Value> Narrowing::alike(const Narrow& a, const Narrow& b) {
  if (a.value.dtype() == b.value.dtype()) return {a.value, b.value};
  if (const auto left = as_float(a), right = as_float(b); left && right)
    return {left->value, right->value};
  return {as_int32(a), as_int32(b)};
}

Narrow Narrowing::element(Value size) {
  if (const auto number = constant(size)) return *number;
  // Before: size
  // After:  Squeeze(Range(size, size + 1, 1)), which reads its bounds on the CPU
  const Value end = onnx_.add(size, onnx_.one(kInt64));
  const Value row =
      onnx_.range(onnx_.cast(size, kInt32), onnx_.cast(end, kInt32), onnx_.int_scalar(1, kInt32));
  return {onnx_.squeeze(row, {0}), 2 * kMostRows};
}

std::optional<Narrow> Narrowing::whole(Value integers) {
  const auto found = of(integers);
  return found && !found->is_cut ? found : std::nullopt;
}

std::optional<Narrow> Narrowing::operand(Value input) {
  return is_size(input) ? element(input) : of(input);
}

std::optional<Narrow> Narrowing::constant(Value integers) {
  const onnx::Tensor* tensor = integers.constant();
  if (tensor == nullptr || tensor->element_count() > kMostElements) return std::nullopt;
  const auto elements = tensor->ints();
  if (!elements) return std::nullopt;
  double most = 0;
  for (const std::int64_t each : *elements) most = std::max(most, std::abs(double(each)));
  if (most > kMostInInt32) return std::nullopt;
  return Narrow{onnx_.cast(integers, kInt32), most};
}

std::optional<Narrow> Narrowing::of(Value integers) {
  if (!integers || integers.dtype() != kInt64) return std::nullopt;
  if (integers.is_constant()) return constant(integers);
  const onnx::Node* node = integers.info()->producer;
  if (node == nullptr || is_of_sizes(integers)) return std::nullopt;
  const auto [place, is_new] = found_.try_emplace(integers.info());
  if (is_new) place->second = computed(node);
  return place->second;
}

std::optional<Narrow> Narrowing::computed(const onnx::Node* node) {
  switch (node->op) {
    case Op::kRange:
      return counted(node, {});
    case Op::kCast:
      return converted(Value(node->input(0)));
    case Op::kExpand:
    case Op::kReshape:
    case Op::kSqueeze:
    case Op::kTranspose:
    case Op::kUnsqueeze:
      return in_shape(node, of(node->input(0)));
    case Op::kGather:
      return looked_up(node);
    case Op::kGatherElements:
    case Op::kSlice:
    case Op::kTile:
      return moved(node);
    case Op::kConstantOfShape:
      return filled(node);
    case Op::kConcat:
      return joined(node);
    case Op::kWhere:
      return chosen(node);
    case Op::kMax:
    case Op::kMin:
      return extreme(node);
    case Op::kAdd:
    case Op::kSub:
      return summed(node);
    case Op::kAbs:
    case Op::kCumSum:
    case Op::kMul:
    case Op::kNeg:
      return calculated(node);
    default:
      return std::nullopt;
  }
}

// Before: Range(start, limit, delta) + offset
// After:  Range<int32>(start + offset, limit + offset, delta)
std::optional<Narrow> Narrowing::counted(const onnx::Node* range, Value offset) {
  const Value start = range->input(0), limit = range->input(1), delta = range->input(2);
  if (!is_size(start) || !is_size(limit) || !is_size(delta)) return std::nullopt;
  const Value row = onnx_.range(onnx_.cast(sum(start, offset), kInt32),
                                onnx_.cast(sum(limit, offset), kInt32), onnx_.cast(delta, kInt32));
  return Narrow{row, offset ? 2 * kMostRows : kMostRows};
}

// Before: Cast<int64>(original)
std::optional<Narrow> Narrowing::converted(Value original) {
  if (original.dtype() == kBool) return Narrow{onnx_.cast(original, kInt32), 1};
  if (original.dtype() == kInt32)
    return Narrow{original, std::min(most_of(original), kLeastOfInt32)};
  return original.dtype() == kFloat32 ? bounded_above(original) : std::nullopt;
}

// Before: Cast<int64>(Min(real, limit))
// After:  Cast<int32>(Clip(real, -2^24, limit))
std::optional<Narrow> Narrowing::bounded_above(Value real) {
  const onnx::Node* minimum = real.info()->producer;
  if (minimum == nullptr || !minimum->is(Op::kMin) || minimum->inputs.size() != 2)
    return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Value limit = minimum->input(i);
    if (!limit.is_constant() || !limit.has_rank() || limit.rank() != 0) continue;
    const auto number = limit.constant()->reals();
    if (!number || !(std::abs(number->front()) < kMostInFloat)) continue;
    const Value clipped =
        onnx_.clip(minimum->input(1 - i), onnx_.scalar(-kMostInFloat, kFloat32), limit);
    return Narrow{onnx_.cast(clipped, kInt32), kMostInFloat, true};
  }
  return std::nullopt;
}

std::optional<Narrow> Narrowing::in_shape(const onnx::Node* node,
                                          const std::optional<Narrow>& data) {
  if (!data) return std::nullopt;
  const Value x = data->value, other = node->input(1);
  const std::vector<std::int64_t>* permutation = node->ints("perm");
  const auto like_data = [&](Value value) { return Narrow{value, data->most, data->is_cut}; };
  switch (node->op) {
    case Op::kExpand:
      return like_data(onnx_.expand(x, other));
    case Op::kReshape:
      return like_data(onnx_.reshape(x, other, {.allowzero = node->int_or("allowzero", 0)}));
    case Op::kSqueeze:
      return like_data(onnx_.squeeze(x, other));
    case Op::kUnsqueeze:
      return like_data(onnx_.unsqueeze(x, other));
    case Op::kTranspose:
      if (permutation == nullptr) return std::nullopt;
      return like_data(onnx_.transpose(x, *permutation));
    default:
      return std::nullopt;
  }
}

// Of a table of integers.
std::optional<Narrow> Narrowing::looked_up(const onnx::Node* node) {
  const auto data = of(node->input(0)), indices = whole(node->input(1));
  if (!data || !indices) return std::nullopt;
  return Narrow{onnx_.gather(data->value, as_int32(*indices), {.axis = node->int_or("axis", 0)}),
                data->most, data->is_cut};
}

// Operators whose kernels are of real numbers alone.
std::optional<Narrow> Narrowing::moved(const onnx::Node* node) {
  const auto data = as_float(of(node->input(0)));
  if (!data) return std::nullopt;
  const Value x = data->value;
  const auto like_data = [&](Value value) { return Narrow{value, data->most, data->is_cut}; };
  if (node->is(Op::kTile)) return like_data(onnx_.tile(x, node->input(1)));
  if (node->is(Op::kSlice))
    return like_data(onnx_.slice(x, node->input(1), node->input(2), Value(node->input(3)),
                                 Value(node->input(4))));
  const auto indices = whole(node->input(1));
  if (!indices) return std::nullopt;
  return like_data(onnx_.gather_elements(x, as_int32(*indices), {.axis = node->int_or("axis", 0)}));
}

// Before: ConstantOfShape(shape)
// After:  Expand(number, shape)
std::optional<Narrow> Narrowing::filled(const onnx::Node* node) {
  const Attribute* attribute = node->find("value");
  if (attribute == nullptr) return std::nullopt;
  const auto element = std::get<std::shared_ptr<const onnx::Tensor>>(attribute->data)->ints();
  if (!element || element->size() != 1) return std::nullopt;
  const std::int64_t number = element->front();
  const double most = std::abs(double(number));
  if (most > kMostInInt32) return std::nullopt;
  return Narrow{onnx_.expand(onnx_.int_scalar(number, kInt32), node->input(0)), most};
}

std::optional<Narrow> Narrowing::joined(const onnx::Node* node) {
  std::vector<Narrow> parts;
  for (const Value input : node->inputs) {
    const auto part = of(input);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  const double most = std::ranges::max(parts, {}, &Narrow::most).most;
  const bool is_real = most <= kMostInFloat && std::ranges::any_of(parts, [](const Narrow& each) {
                         return each.value.dtype() == kFloat32;
                       });
  std::vector<Value> values;
  for (const Narrow& each : parts)
    values.push_back(onnx_.cast(each.value, is_real ? kFloat32 : kInt32));
  return Narrow{onnx_.concat(values, node->int_or("axis", 0)), most,
                std::ranges::any_of(parts, &Narrow::is_cut)};
}

std::optional<Narrow> Narrowing::chosen(const onnx::Node* node) {
  const auto left = operand(node->input(1)), right = operand(node->input(2));
  if (!left || !right) return std::nullopt;
  const auto [a, b] = alike(*left, *right);
  return Narrow{onnx_.where(node->input(0), a, b), std::max(left->most, right->most),
                left->is_cut || right->is_cut};
}

// Before: Max(a, b)
// After:  Where(Less(a, b), b, a)
std::optional<Narrow> Narrowing::extreme(const onnx::Node* node) {
  if (node->inputs.size() != 2) return std::nullopt;
  const auto left = operand(node->input(0)), right = operand(node->input(1));
  if (!left || !right || left->is_cut || right->is_cut) return std::nullopt;
  auto [a, b] = alike(*left, *right);
  const Value is_less = onnx_.less(a, b);
  if (node->is(Op::kMax)) std::swap(a, b);
  return Narrow{onnx_.where(is_less, a, b), std::max(left->most, right->most)};
}

std::optional<Narrow> Narrowing::calculated(const onnx::Node* node) {
  const auto left = whole(node->input(0));
  if (!left) return std::nullopt;
  if (node->is(Op::kMul)) {
    const auto right = whole(node->input(1));
    if (!right || left->most * right->most > kMostInInt32) return std::nullopt;
    return Narrow{onnx_.mul(as_int32(*left), as_int32(*right)), left->most * right->most};
  }
  if (node->is(Op::kNeg)) {
    if (left->most > kMostInInt32) return std::nullopt;
    const Value zero = onnx_.int_scalar(0, left->value.dtype());
    return Narrow{onnx_.sub(zero, left->value), left->most};
  }
  const auto x = as_float(left);
  if (!x) return std::nullopt;
  if (node->is(Op::kAbs)) return Narrow{onnx_.abs(x->value), x->most};
  const double most = x->most * kMostRows;
  if (most > kMostInFloat) return std::nullopt;
  return Narrow{onnx_.cumsum(x->value, node->input(1),
                             {.exclusive = node->int_or("exclusive", 0),
                              .reverse = node->int_or("reverse", 0)}),
                most};
}

std::optional<Narrow> Narrowing::summed(const onnx::Node* node) {
  if (const auto range = shifted(node->output(), {})) return range;
  const bool is_sum = node->is(Op::kAdd);
  const auto left = operand(node->input(0)), right = operand(node->input(1));
  if (!left || !right || (left->is_cut && right->is_cut)) return std::nullopt;
  const double most = left->most + right->most;
  if (most > kMostInInt32) return std::nullopt;
  auto [a, b] = alike(*left, *right);
  if (most > kMostInFloat) std::tie(a, b) = std::pair{as_int32(*left), as_int32(*right)};
  // Less what is cut is beyond 2^24, which is refused, too.
  return Narrow{is_sum ? onnx_.add(a, b) : onnx_.sub(a, b), most, left->is_cut || right->is_cut};
}

std::optional<Narrow> Narrowing::shifted(Value integers, Value offset) {
  const onnx::Node* node = integers ? integers.info()->producer : nullptr;
  if (node == nullptr || integers.dtype() != kInt64) return std::nullopt;
  if (node->is(Op::kRange)) return counted(node, offset);
  if (node->is(Op::kUnsqueeze) || node->is(Op::kExpand))
    return in_shape(node, shifted(node->input(0), offset));
  const bool is_sum = node->is(Op::kAdd);
  if (!is_sum && !node->is(Op::kSub)) return std::nullopt;
  const Value a = node->input(0), b = node->input(1);
  if (is_size(b)) return shifted(a, is_sum ? sum(offset, b) : difference(offset, b));
  if (is_sum && is_size(a)) return shifted(b, sum(offset, a));
  return std::nullopt;
}

}  // namespace sardonyx::targets

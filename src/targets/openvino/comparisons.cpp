// Integers that OpenVINO compares as float32: right up to 2^24.
#include <algorithm>
#include <array>

#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/openvino/tables.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Node;

constexpr std::int64_t kExact = std::int64_t{1} << 24;

bool is_small_constant(Value value) {
  const auto ints = value.is_constant() ? value.constant()->ints() : std::nullopt;
  return ints && std::ranges::all_of(*ints, [](std::int64_t element) {
           return -kExact < element && element < kExact;
         });
}

constexpr std::array<std::string_view, 9> kMoves = {
    "Cast", "Expand", "Gather", "Reshape", "Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze"};
constexpr std::array<std::string_view, 6> kCombines = {"Add", "Concat", "Div", "Max", "Min", "Sub"};

// Whether its elements count something that is in memory: places and sizes.
bool counts(Value value, int depth = 0) {
  if (is_small_constant(value)) return true;
  const Node* node = value->producer;
  if (node == nullptr || depth > 8) return false;
  if (node->is("Shape") || node->is("Size") || node->is("NonZero")) return true;
  if (node->is("Range"))
    return counts(node->input(0), depth + 1) && counts(node->input(2), depth + 1);
  const auto is_any = [&](auto ops) {
    return std::ranges::any_of(ops, [&](std::string_view op) { return node->is(op); });
  };
  if (is_any(kMoves)) return counts(node->input(0), depth + 1);
  if (!is_any(kCombines)) return false;
  for (std::size_t i = 0; i < node->inputs.size(); ++i)
    if (!counts(node->input(i), depth + 1)) return false;
  return true;
}

// A float32 that is near a small number is that number.
bool may_be_great(const Use& use) {
  const Value a = use.input(0), b = use.input(1);
  return !is_small_constant(a) && !is_small_constant(b) && !(counts(a) && counts(b));
}

// Before: Equal(a, b)
// After:  Equal(Sub(a, b), 0)
std::optional<Values> difference_is_none(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const Value difference = onnx.sub(use.input(0), use.input(1));
  return onnx.without(rule, use, std::vector{difference, onnx.zero(use.dtype())}, {});
}

// Before: Less(a, b)
// After:  Less(Sub(a, b), 0) where a and b are the same float32, so that the difference is small,
//         Less(a, b) elsewhere
std::optional<Values> compared_by_difference(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const Value a = use.input(0), b = use.input(1);
  const Value near = onnx.equal(onnx.cast(a, kFloat32), onnx.cast(b, kFloat32));
  const Values exact =
      onnx.without(rule, use, std::vector{onnx.sub(a, b), onnx.zero(use.dtype())}, {});
  const Values rough = onnx.without(rule, use);
  return Values{
      onnx.or_(onnx.and_(near, exact.front()), onnx.and_(onnx.not_(near), rough.front()))};
}

constexpr DTypeSet kIntegers = onnx::dtype_bit(kInt32) | onnx::dtype_bit(kInt64);

constexpr Rule compares(std::string_view name, Op op,
                        std::optional<Values> (*how)(const Use&, const Rule&)) {
  return {.name = name,
          .op = op,
          .reason = Reason::kWrong,
          .types = kIntegers,
          .when = may_be_great,
          .how = how,
          .why = "integers are compared as float32, in which neighbors beyond 2^24 are the same",
          .since = "2026.4.1"};
}

constexpr Rule kRows[] = {
    compares("equal-great-integers", Op::kEqual, difference_is_none),
    compares("less-of-great-integers", Op::kLess, compared_by_difference),
    compares("greater-of-great-integers", Op::kGreater, compared_by_difference),
    compares("less-or-equal-of-great-integers", Op::kLessOrEqual, compared_by_difference),
    compares("greater-or-equal-of-great-integers", Op::kGreaterOrEqual, compared_by_difference),
};

}  // namespace

Rules openvino_comparison_rules() { return kRows; }

}  // namespace sardonyx::targets

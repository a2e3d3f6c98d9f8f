// Casts of floating numbers of 8 bits, and casts of casts.
#include <limits>

#include "kernels/small_float.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

// As near to infinity as to the last finite number, 57344, of float8e5m2.
constexpr double kRoundsToInfinity = 61440;

DType target_type(const Use& use) { return static_cast<DType>(use.integer("to", 0)); }

bool to_truth(const Use& use) {
  return kernels::is_float8(use.dtype()) && target_type(use) == DType::kBool;
}

std::optional<Values> truth_of_wide(const Use& use, const Rule&) {
  return Values{use.onnx.cast(use.onnx.cast(use.input(0), DType::kFloat32), DType::kBool)};
}

// As infinite_before() leaves it.
bool is_infinite_before(const onnx::ValueInfo* x) {
  const onnx::Node* product = x->producer;
  if (product == nullptr || !product->is(Op::kMul)) return false;
  const onnx::Node* choice = product->input(1)->producer;
  if (choice == nullptr || !choice->is(Op::kWhere)) return false;
  const onnx::Node* bound = choice->input(0)->producer;
  return bound != nullptr && bound->is(Op::kGreaterOrEqual) &&
         Value(bound->input(1)).real() == kRoundsToInfinity;
}

bool may_round_to_infinity(const Use& use) {
  const DType from = use.dtype();
  if (is_infinite_before(use.input(0).info())) return false;
  return target_type(use) == DType::kFloat8E5M2 && use.integer("saturate", 1) == 0 &&
         from != DType::kBool && !kernels::is_float8(from);
}

// It becomes infinite before.
std::optional<Values> infinite_before(const Use& use, const Rule& rule) {
  onnx::Emit& onnx = use.onnx;
  const DType dtype = use.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Value wide = onnx.cast(use.input(0), dtype);
  const Value infinity = onnx.scalar(std::numeric_limits<double>::infinity(), dtype);
  const Value too_large =
      onnx.greater_or_equal(onnx.abs(wide), onnx.scalar(kRoundsToInfinity, dtype));
  const Value x = onnx.mul(wide, onnx.where(too_large, infinity, onnx.one(dtype)));
  return use.onnx.without(rule, use, {&x, 1}, {use.attributes.begin(), use.attributes.end()});
}

constexpr DTypeSet set_of(std::initializer_list<DType> types) {
  DTypeSet set = 0;
  for (const DType type : types) set |= onnx::dtype_bit(type);
  return set;
}

constexpr bool is_in(DTypeSet set, DType type) { return (set & onnx::dtype_bit(type)) != 0; }

constexpr DTypeSet kHalves = set_of({DType::kFloat16, DType::kBFloat16});
constexpr DTypeSet kWide = set_of({DType::kInt64, DType::kUInt64, DType::kUInt32});
constexpr DTypeSet kNarrow = set_of({DType::kInt32, DType::kUInt32, DType::kInt16, DType::kUInt16});
constexpr DTypeSet kBytes = set_of({DType::kInt8, DType::kUInt8});

// What a cast in between does to a number is lost: it rounds, or wraps around later.
bool is_cast_past_another(const Use& use) {
  const onnx::Node* before = use.input(0)->producer;
  if (before == nullptr || !before->is(Op::kCast)) return false;
  const DType from = before->input(0)->dtype, between = use.dtype(), to = target_type(use);
  if (from != DType::kFloat32 && from != DType::kFloat64) return false;
  if (is_in(kHalves, between)) return is_in(kBytes, to);
  // A float32 from 2^31 on has no low byte.
  const bool narrows = is_in(kNarrow, to) || (from == DType::kFloat64 && is_in(kBytes, to));
  return narrows && between != to && is_in(kWide, between);
}

// Before: Cast<to>(Cast<between>(x))
// After:  Cast<to>(Max(between, between)); of a half, of what it is as a float32
std::optional<Values> kept_in_between(const Use& use, const Rule& rule) {
  Value kept = use.input(0);
  if (is_in(kHalves, kept.dtype())) kept = use.onnx.cast(kept, DType::kFloat32);
  kept = use.onnx.max({kept, kept});
  return use.onnx.without(rule, use, {&kept, 1}, {use.attributes.begin(), use.attributes.end()});
}

constexpr Rule kRewritten[] = {
    {.name = "cast-of-cast",
     .op = Op::kCast,
     .reason = Reason::kRewrites,
     .when = is_cast_past_another,
     .how = kept_in_between,
     .why = "of two casts the first one is taken out where the second one's type is narrower, so "
            "that a number is not rounded to float16, or stops at the type's bounds where an "
            "integer wraps around",
     .since = "1.31"},
};

constexpr Rule kRows[] = {
    {.name = "truth-of-float8",
     .op = Op::kCast,
     .reason = Reason::kWrong,
     .when = to_truth,
     .how = truth_of_wide,
     .why = "it takes a -0.0 of 8 bits for true",
     .since = "1.31"},
    {.name = "float8-infinity",
     .op = Op::kCast,
     .reason = Reason::kWrong,
     .when = may_round_to_infinity,
     .how = infinite_before,
     .why = "without saturation it makes NaN of finite numbers that round up to infinity",
     .since = "1.31"},
};

}  // namespace

Rules repeated_cast_rules() { return kRewritten; }
Rules cast_rules() { return kRows; }

}  // namespace sardonyx::targets

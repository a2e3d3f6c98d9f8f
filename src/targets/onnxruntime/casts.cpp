// Casts of floating numbers of 8 bits.
#include <limits>

#include "onnx/graph/small_float.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

DType target_type(const Use& use) { return static_cast<DType>(use.integer("to", 0)); }

bool to_truth(const Use& use) {
  return onnx::is_float8(use.dtype()) && target_type(use) == DType::kBool;
}

std::optional<Values> truth_of_wide(const Use& use, const Rule&) {
  return Values{use.onnx.cast(use.onnx.cast(use.input(0), DType::kFloat32), DType::kBool)};
}

bool may_round_to_infinity(const Use& use) {
  const DType from = use.dtype();
  return target_type(use) == DType::kFloat8E5M2 && use.integer("saturate", 1) == 0 &&
         from != DType::kBool && !onnx::is_float8(from);
}

// What is as near to infinity as to the last finite number, 57344, becomes infinite before.
std::optional<Values> infinite_before(const Use& use, const Rule& rule) {
  onnx::Emit& onnx = use.onnx;
  const DType dtype = use.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Value wide = onnx.cast(use.input(0), dtype);
  const Value infinity = onnx.scalar(std::numeric_limits<double>::infinity(), dtype);
  const Value too_large = onnx.greater_or_equal(onnx.abs(wide), onnx.scalar(61440, dtype));
  const Value x = onnx.mul(wide, onnx.where(too_large, infinity, onnx.one(dtype)));
  return use.onnx.without(rule, use, {&x, 1}, {use.attributes.begin(), use.attributes.end()});
}

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

Rules cast_rules() { return kRows; }

}  // namespace sardonyx::targets

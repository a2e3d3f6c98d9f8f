// Arithmetic on integers of 8 bits in OpenVINO, which ends at their least and greatest, where
// ONNX's wraps round, and rounds quotients.
#include "targets/lowering.h"
#include "targets/openvino/tables.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;

// Before: Add(a, b)
// After:  Cast<int8>(Add(Cast<int32>(a), Cast<int32>(b)))
std::optional<Values> in_32_bits(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  Values wide;
  for (const Value input : use.inputs) wide.push_back(onnx.cast(input, kInt32));
  const Values result =
      onnx.without(rule, use, wide, {use.attributes.begin(), use.attributes.end()});
  return Values{onnx.cast(result.front(), use.dtype())};
}

constexpr DTypeSet kBytes = onnx::dtype_bit(kInt8) | onnx::dtype_bit(kUInt8);

constexpr Rule saturates(std::string_view name, Op op) {
  return {.name = name,
          .op = op,
          .reason = Reason::kWrong,
          .types = kBytes,
          .how = in_32_bits,
          .why = "results beyond 8 bits become the least or the greatest there is",
          .since = "2026.4.1"};
}

constexpr Rule kRows[] = {
    saturates("sum-of-bytes", Op::kAdd),
    saturates("difference-of-bytes", Op::kSub),
    saturates("product-of-bytes", Op::kMul),
    saturates("negative-of-bytes", Op::kNeg),
    saturates("absolute-of-bytes", Op::kAbs),
    {.name = "quotient-of-bytes",
     .op = Op::kDiv,
     .reason = Reason::kWrong,
     .types = kBytes,
     .how = in_32_bits,
     .why = "quotients are rounded to the nearest: 7 / 2 is 4",
     .since = "2026.4.1"},
};

}  // namespace

Rules openvino_byte_rules() { return kRows; }

}  // namespace sardonyx::targets

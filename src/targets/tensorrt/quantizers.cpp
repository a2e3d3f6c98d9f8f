// Quantization in TensorRT: signed types round zero.
#include <algorithm>

#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/tensorrt/tables.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;

constexpr DTypeSet kStored = onnx::dtype_bit(kInt8) | onnx::dtype_bit(kInt4) |
                             onnx::dtype_bit(kFloat8E4M3FN) | onnx::dtype_bit(kFloat4E2M1);

// Whether zero is meant by another number than 0, or may be. Without a zero point it is 0.
bool is_moved(Value zero_point) {
  if (!zero_point) return false;
  const auto zeros = zero_point.is_constant() ? zero_point.constant()->reals() : std::nullopt;
  return !zeros || std::ranges::any_of(*zeros, [](double zero) { return zero != 0; });
}

bool is_not_taken(const Use& use) {
  const bool quantizes = use.op.id == Op::kQuantizeLinear;
  const auto asked = static_cast<DType>(use.integer("output_dtype", 0));
  const DType unasked = asked == kUndefined ? kUInt8 : asked;
  const DType other = quantizes ? unasked : use.dtype();
  const DType stored = quantizes && use.input(2) ? use.input(2).dtype() : other;
  return (kStored & onnx::dtype_bit(stored)) == 0 || is_moved(use.input(2));
}

constexpr std::string_view kWhy =
    "the documentation lists int8, int4, float8 (e4m3) and float4 with a zero point of 0";

constexpr Rule kRows[] = {
    {.name = "quantization-parameters",
     .op = Op::kQuantizeLinear,
     .reason = Reason::kLacks,
     .when = is_not_taken,
     .how = by_definition,
     .why = kWhy,
     .since = "documentation of 11.0, read"},
    {.name = "dequantization-parameters",
     .op = Op::kDequantizeLinear,
     .reason = Reason::kLacks,
     .when = is_not_taken,
     .how = by_definition,
     .why = kWhy,
     .since = "documentation of 11.0, read"},
};

}  // namespace

Rules tensorrt_quantizer_rules() { return kRows; }

}  // namespace sardonyx::targets

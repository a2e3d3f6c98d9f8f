// Quantization in TensorRT: int8 round zero.
#include <algorithm>

#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/tensorrt/tables.h"

namespace sardonyx::targets {
namespace {

// Whether zero is meant by another number than 0, or may be. Without a zero point it is 0.
bool is_moved(Value zero_point) {
  if (!zero_point) return false;
  const auto ints = zero_point.is_constant() ? zero_point.constant()->ints() : std::nullopt;
  return !ints || std::ranges::any_of(*ints, [](std::int64_t zero) { return zero != 0; });
}

bool is_not_taken(const Use& use) {
  const bool quantizes = use.op.id == Op::kQuantizeLinear;
  const base::DType other = quantizes ? base::DType::kUInt8 : use.dtype();
  const base::DType stored = quantizes && use.input(2) ? use.input(2).dtype() : other;
  return stored != base::DType::kInt8 || is_moved(use.input(2));
}

constexpr std::string_view kWhy =
    "the documentation lists int8 with a zero point of 0, and uint8 as inputs and outputs only";

constexpr Rule kRows[] = {
    {.name = "quantization-parameters",
     .op = Op::kQuantizeLinear,
     .reason = Reason::kLacks,
     .when = is_not_taken,
     .how = by_definition,
     .why = kWhy,
     .since = "documentation of 10.15, not run"},
    {.name = "dequantization-parameters",
     .op = Op::kDequantizeLinear,
     .reason = Reason::kLacks,
     .when = is_not_taken,
     .how = by_definition,
     .why = kWhy,
     .since = "documentation of 10.15, not run"},
};

}  // namespace

Rules tensorrt_quantizer_rules() { return kRows; }

}  // namespace sardonyx::targets

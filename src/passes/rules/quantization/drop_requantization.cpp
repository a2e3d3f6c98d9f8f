// Before: y = QuantizeLinear(DequantizeLinear(q, scale, zero), scale, zero)
// After:  y = q
// Integers of 8 or 16 bits come back as they were: the product with a scale in float32 and the
// quotient are off by 2^-22 of themselves at most, which rounding takes away.
#include <algorithm>
#include <cmath>

#include "passes/rules/quantization/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

enum { kQuantized, kScale, kZero, kReal };

// Neither zero, nor so small or large that the product is.
bool is_harmless(const ValueInfo* scale) {
  if (scale->constant == nullptr || scale->dtype != DType::kFloat32) return false;
  const auto reals = scale->constant->reals();
  return reals && std::ranges::all_of(*reals, [](double real) {
           return std::abs(real) > 1e-30 && std::abs(real) < 1e30;
         });
}

// Others may read the real numbers, too.
constexpr auto kWritten =
    op(Op::kQuantizeLinear,
       as(kReal,
          shared(op(Op::kDequantizeLinear, any(kQuantized), any(kScale, is_harmless), any(kZero)))),
       any(kScale), any(kZero));

bool is_small_integer(DType dtype) {
  return base::is_integer(dtype) && base::bit_width(dtype) <= 16;
}

bool drop(Node* quantize, RuleContext& context) {
  const auto found = match(kWritten, quantize, context);
  if (!found) return false;
  ValueInfo* const quantized = (*found)[kQuantized];
  const Node* const dequantize = found->node(kReal);
  for (const std::string_view axis : {"axis", "block_size"})
    if (quantize->int_or(axis, axis == "axis" ? 1 : 0) !=
        dequantize->int_or(axis, axis == "axis" ? 1 : 0))
      return context.decline(quantize, "the scales belong to other axes");
  if (!is_small_integer(quantized->dtype) || quantize->output()->dtype != quantized->dtype)
    return context.decline(quantize, "it does not come back to an integer type of 16 bits or less");
  Patch patch(context, quantize);
  patch.replace(quantize->output(), quantized);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kQuantizeLinear};

}  // namespace

const Rule kDropRequantization = {"drop-requantization", kRoots, drop, 13};

}  // namespace sardonyx::passes

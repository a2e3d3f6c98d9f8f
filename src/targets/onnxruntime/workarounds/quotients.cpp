// Quotients of integers that ONNX Runtime's optimizer takes for those of real numbers.
#include <algorithm>

#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

bool divides_one(const Use& use) {
  const auto numerator = use.input(0).ints();
  return numerator && std::ranges::all_of(*numerator, [](std::int64_t n) { return n == 1; });
}

// Before: Div(1, x)
// After:  Div(-1, -x)
std::optional<Values> negated(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  return onnx.without(rule, use, std::vector{onnx.neg(use.input(0)), onnx.neg(use.input(1))}, {});
}

constexpr DTypeSet kSigned = onnx::dtype_bit(DType::kInt8) | onnx::dtype_bit(DType::kInt16) |
                             onnx::dtype_bit(DType::kInt32) | onnx::dtype_bit(DType::kInt64);

constexpr Rule kRows[] = {
    {.name = "quotient-of-one",
     .op = Op::kDiv,
     .reason = Reason::kRewrites,
     .types = kSigned,
     .when = divides_one,
     .how = negated,
     .why = "1 / x * y becomes y / x, which of integers is another number",
     .since = "1.31"},
};

}  // namespace

Rules quotient_rules() { return kRows; }

}  // namespace sardonyx::targets

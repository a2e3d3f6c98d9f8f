// Factors of what is multiplied, which ONNX Runtime's optimiser takes into the product.
#include <cmath>
#include <vector>

#include "onnx/graph/ir.h"
#include "rewriting/pattern.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

struct Scaled {
  Value value;
  double factor = 1;
};

// Far from where a product of two of them is zero or infinite.
bool is_moderate(double factor) { return std::abs(factor) > 1e-15 && std::abs(factor) < 1e15; }

// Mul(value, factor) or Div(value, 1 / factor), of a shape that the number does not change.
std::optional<Scaled> scaled(const Value product) {
  const onnx::Node* node = product ? product->producer : nullptr;
  const bool is_mul = node != nullptr && node->is(Op::kMul);
  if (!is_mul && (node == nullptr || !node->is(Op::kDiv))) return {};
  for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
    if (side == 0 && !is_mul) break;
    const Value other = node->input(1 - side), number = node->input(side);
    const auto factor = rewriting::number_of(number.info());
    if (!factor || !is_moderate(*factor) || !other.has_rank() || other.rank() == 0 ||
        number.rank() > other.rank())
      continue;
    return Scaled{other, is_mul ? *factor : 1 / *factor};
  }
  return {};
}

const onnx::Node* transpose_before(const Value value) {
  const onnx::Node* node = value ? value->producer : nullptr;
  return node != nullptr && node->is(Op::kTranspose) ? node : nullptr;
}

// What is scaled twice, by both factors at once.
std::optional<Scaled> scaled_twice(Value factor) {
  if (const onnx::Node* turned = transpose_before(factor)) factor = turned->input(0);
  const auto outer = scaled(factor);
  const auto inner = outer ? scaled(outer->value) : std::nullopt;
  if (!inner) return {};
  return Scaled{inner->value, inner->factor * outer->factor};
}

bool has_factor_scaled_twice(const Use& use) {
  return scaled_twice(use.input(0)) || scaled_twice(use.input(1));
}

// Before: MatMul(Mul(Div(x, a), b), y)
// After:  MatMul(Mul(x, b / a), y)
std::optional<Values> scaled_at_once(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  std::vector<Value> inputs(use.inputs.begin(), use.inputs.end());
  for (Value& input : inputs) {
    const auto found = scaled_twice(input);
    if (!found) continue;
    const Value once = onnx.mul(found->value, onnx.scalar_like(found->factor, found->value));
    const onnx::Node* turned = transpose_before(input);
    const auto* order = turned == nullptr ? nullptr : turned->ints("perm");
    if (turned == nullptr)
      input = once;
    else
      input = order == nullptr ? onnx.transpose(once) : onnx.transpose(once, {.perm = *order});
  }
  return onnx.without(rule, use, inputs, {});
}

constexpr Rule kRows[] = {
    {.name = "product-of-twice-scaled",
     .op = Op::kMatMul,
     .reason = Reason::kFails,
     .types = onnx::dtype_bit(DType::kFloat32) | onnx::dtype_bit(DType::kFloat64),
     .when = has_factor_scaled_twice,
     .how = scaled_at_once,
     .why = "the second factor is fused into the product, which then reads what the first one "
            "scaled; another product that takes in the first removes that, and the model is not "
            "loaded",
     .since = "1.31"},
};

}  // namespace

Rules scale_rules() { return kRows; }

}  // namespace sardonyx::targets

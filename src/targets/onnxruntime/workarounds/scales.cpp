// Factors of what is multiplied, which ONNX Runtime's optimizer takes into the product.
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
    if (!factor || !other.has_rank() || other.rank() == 0 || number.rank() > other.rank()) continue;
    return Scaled{other, is_mul ? *factor : 1 / *factor};
  }
  return {};
}

const onnx::Node* transpose_before(const Value value) {
  const onnx::Node* node = value ? value->producer : nullptr;
  return node != nullptr && node->is(Op::kTranspose) ? node : nullptr;
}

Value unturned(const Value factor) {
  const onnx::Node* turned = transpose_before(factor);
  return turned != nullptr ? turned->input(0) : factor;
}

// What is scaled twice, by both factors at once.
std::optional<Scaled> scaled_twice(const Value factor) {
  const auto outer = scaled(unturned(factor));
  const auto inner = outer ? scaled(outer->value) : std::nullopt;
  if (!inner || !is_moderate(inner->factor) || !is_moderate(outer->factor)) return {};
  return Scaled{inner->value, inner->factor * outer->factor};
}

bool has_factor_scaled_twice(const Use& use) {
  return scaled_twice(use.input(0)) || scaled_twice(use.input(1));
}

// A kernel for float64 refuses to be given such a scale.
bool has_no_end(const Scaled& found) {
  return found.value.dtype() == DType::kFloat64 && !std::isfinite(found.factor);
}

bool is_to_keep_apart(const Value factor) {
  const auto outer = scaled(unturned(factor));
  if (!outer) return false;
  return has_no_end(*outer) || (scaled(outer->value) && !scaled_twice(factor));
}

bool has_factor_to_keep_apart(const Use& use) {
  return is_to_keep_apart(use.input(0)) || is_to_keep_apart(use.input(1));
}

// The same numbers, NaN included, of an operator that nothing is fused with.
Value apart(Lowering& onnx, const Value value) { return onnx.max({value, value}); }

// Before: MatMul(Div(x, 0), y)
// After:  MatMul(Max(Div(x, 0), Div(x, 0)), y)
std::optional<Values> kept_apart(const Use& use, const Rule& rule) {
  std::vector<Value> inputs(use.inputs.begin(), use.inputs.end());
  for (Value& input : inputs) {
    if (is_to_keep_apart(input)) input = apart(use.onnx, input);
  }
  return use.onnx.without(rule, use, inputs, {});
}

// Which input of Mul or Div is a product.
std::optional<std::size_t> product_scaled_without_end(const Use& use) {
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const onnx::Node* node = use.input(side) ? use.input(side)->producer : nullptr;
    if (node == nullptr || !node->is(Op::kMatMul)) continue;
    const auto number = rewriting::number_of(use.input(1 - side).info());
    if (!number) continue;
    const bool is_mul = use.op.id == Op::kMul;
    if (!is_mul && side == 1) continue;
    if (!std::isfinite(is_mul ? *number : 1 / *number)) return side;
  }
  return {};
}

// Before: Div(MatMul(x, y), 0)
// After:  Div(Max(MatMul(x, y), MatMul(x, y)), 0)
std::optional<Values> scaled_apart(const Use& use, const Rule& rule) {
  std::vector<Value> inputs(use.inputs.begin(), use.inputs.end());
  Value& product = inputs[*product_scaled_without_end(use)];
  product = apart(use.onnx, product);
  return use.onnx.without(rule, use, inputs, {});
}

bool scales_a_product_without_end(const Use& use) {
  return product_scaled_without_end(use).has_value();
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

constexpr std::string_view kFactorsAreFinite =
    "the factor is fused into the product, whose kernel for float64 refuses one that is not finite";

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
    {.name = "product-of-scaled-without-end",
     .op = Op::kMatMul,
     .reason = Reason::kFails,
     .types = onnx::dtype_bit(DType::kFloat32) | onnx::dtype_bit(DType::kFloat64),
     .when = has_factor_to_keep_apart,
     .how = kept_apart,
     .why = "factors are fused into the product, whose kernel for float64 refuses those that are "
            "not finite; two that cannot be one are fused wrongly, as for product-of-twice-scaled",
     .since = "1.31"},
    {.name = "product-scaled-without-end",
     .op = Op::kMul,
     .reason = Reason::kFails,
     .types = onnx::dtype_bit(DType::kFloat64),
     .when = scales_a_product_without_end,
     .how = scaled_apart,
     .why = kFactorsAreFinite,
     .since = "1.31"},
    {.name = "product-divided-by-zero",
     .op = Op::kDiv,
     .reason = Reason::kFails,
     .types = onnx::dtype_bit(DType::kFloat64),
     .when = scales_a_product_without_end,
     .how = scaled_apart,
     .why = kFactorsAreFinite,
     .since = "1.31"},
};

}  // namespace

Rules scale_rules() { return kRows; }

}  // namespace sardonyx::targets

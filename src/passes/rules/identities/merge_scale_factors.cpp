// Before: y = Mul(Div(x, 2), [3, 4, 5])
// After:  y = Mul(x, [1.5, 2, 2.5])
// Before: j = Add(Sub(i, 3), 5)         of integers
// After:  j = Add(i, 2)
// Products of real numbers come out as if rounded once less. Sums of real numbers stay: that the
// second undoes the first but for what was rounded away may be what they are for.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "onnx/fold/formula.h"
#include "onnx/graph/tensor.h"
#include "passes/rules/identities/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using base::DType;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

// Beyond these, products that were numbers might be infinite, or 0.
constexpr double kLeast = 0x1p-20, kMax = 0x1p20;
constexpr std::int64_t kMaxElements = 65536;

bool adds(const Node* node) { return node->is(Op::kAdd) || node->is(Op::kSub); }
bool multiplies(const Node* node) { return node->is(Op::kMul) || node->is(Op::kDiv); }

// A value and the constant that it is combined with.
struct Step {
  ValueInfo* x = nullptr;
  ValueInfo* by = nullptr;
};

std::optional<Step> step_of(const Node* node, const RuleContext& context) {
  const bool in_any_order = node->is(Op::kAdd) || node->is(Op::kMul);
  for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
    ValueInfo *const by = node->input(side), *const x = node->input(1 - side);
    if (x == nullptr || by == nullptr || by->constant == nullptr || by->is_disputed ||
        x->constant != nullptr || (side == 0 && !in_any_order))
      continue;
    const Tensor& tensor = *by->constant;
    const bool may_change = !by->is_weight || (context.is_foreign() && !by->is_pinned);
    if (!may_change || tensor.missing || tensor.element_count() > kMaxElements ||
        tensor.element_count() == 0)
      return std::nullopt;
    return Step{x, by};
  }
  return std::nullopt;
}

// The factors, as Mul has them; nothing where one is too large or too small.
std::optional<std::vector<double>> factors_of(const Node* node, const ValueInfo* by) {
  auto factors = by->constant->reals();
  if (!factors) return std::nullopt;
  for (double& factor : *factors) {
    if (node->is(Op::kDiv)) factor = 1 / factor;
    if (!(std::abs(factor) >= kLeast && std::abs(factor) <= kMax)) return std::nullopt;
  }
  return factors;
}

// One of the two has one element, or they have one shape.
std::optional<Tensor> product(const Node* first, const ValueInfo* a, const Node* second,
                              const ValueInfo* b) {
  const auto one = factors_of(first, a), other = factors_of(second, b);
  if (!one || !other) return std::nullopt;
  const bool alike = a->constant->dims == b->constant->dims;
  const bool first_is_larger = one->size() > other->size();
  if (!alike && one->size() != 1 && other->size() != 1) return std::nullopt;
  std::vector<std::int64_t> dims = a->constant->dims;
  if (!first_is_larger && (other->size() > one->size() || b->constant->dims.size() > dims.size()))
    dims = b->constant->dims;
  Tensor made = Tensor::filled(a->constant->dtype, dims, 0);
  const std::size_t count = std::max(one->size(), other->size());
  const auto width = static_cast<std::size_t>(base::bit_width(made.dtype) / 8);
  std::vector<std::byte> bytes(count * width);
  for (std::size_t i = 0; i < count; ++i)
    onnx::store_real(made.dtype,
                     (*one)[one->size() == 1 ? 0 : i] * (*other)[other->size() == 1 ? 0 : i],
                     bytes.data() + i * width);
  return Tensor::of_bytes(made.dtype, std::move(dims), bytes);
}

// A factor in float64, as steps that compute weights anew.
Tensor recorded_factor(const Node* node, const ValueInfo* by) {
  const Tensor wide = onnx::computed("Cast", {onnx::recorded(*by)}, {{"to", DType::kFloat64, {}}});
  if (!node->is(Op::kDiv)) return wide;
  return onnx::computed("Div", {Tensor::filled(DType::kFloat64, {}, 1), wide});
}

// The product with how it is computed of weights; of unknown origin where that gives another one.
Tensor recorded_product(const Tensor& made, const Node* first, const ValueInfo* a,
                        const Node* second, const ValueInfo* b) {
  const Tensor wide =
      onnx::computed("Mul", {recorded_factor(first, a), recorded_factor(second, b)});
  const Tensor dims = Tensor::of_ints(made.dims, {static_cast<std::int64_t>(made.dims.size())});
  Tensor result =
      onnx::computed("Cast", {onnx::computed("Reshape", {wide, dims})}, {{"to", made.dtype, {}}});
  const bool is_same =
      onnx::has_origin(result) && result.dims == made.dims &&
      std::memcmp(result.data, made.data, static_cast<std::size_t>(made.byte_count())) == 0;
  return is_same ? result : onnx::of_unknown_origin(made);
}

// Of integers of 64 bits, which wrap around, so that the order does not matter.
std::optional<Tensor> sum(const Node* first, const ValueInfo* a, const Node* second,
                          const ValueInfo* b) {
  const auto one = a->constant->ints(), other = b->constant->ints();
  if (!one || !other || a->constant->dtype != DType::kInt64 || one->size() != 1 ||
      other->size() != 1)
    return std::nullopt;
  const auto signed_by = [](const Node* node, std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    return node->is(Op::kSub) ? 0 - bits : bits;
  };
  const auto both =
      static_cast<std::int64_t>(signed_by(first, one->front()) + signed_by(second, other->front()));
  const bool second_is_larger = b->constant->dims.size() > a->constant->dims.size();
  return Tensor::of_ints(std::vector<std::int64_t>{both},
                         second_is_larger ? b->constant->dims : a->constant->dims);
}

bool join(Node* second, RuleContext& context) {
  if (second->output() == nullptr) return false;
  const auto outer = step_of(second, context);
  if (!outer || !used_once(outer->x)) return false;
  const Node* const first = outer->x->producer;
  if (first == nullptr || !first->domain.empty() || first->graph != second->graph ||
      outer->x != first->output() || outer->by->constant->dtype != outer->x->dtype)
    return false;
  const bool real = outer->x->dtype == DType::kFloat32 || outer->x->dtype == DType::kFloat64;
  const bool factors = real && multiplies(first) && multiplies(second);
  if (!factors && !(!real && adds(first) && adds(second))) return false;
  const auto inner = step_of(first, context);
  if (!inner) return false;
  auto both = factors ? product(first, inner->by, second, outer->by)
                      : sum(first, inner->by, second, outer->by);
  if (!both) return context.decline(second, "the two constants are not made one");
  Patch patch(context, second);
  const bool is_of_weight = inner->by->is_weight || outer->by->is_weight;
  if (is_of_weight)
    both = factors ? recorded_product(*both, first, inner->by, second, outer->by)
                   : onnx::of_unknown_origin(*both);
  ValueInfo* const constant =
      is_of_weight ? patch.weight((outer->by->is_weight ? outer->by : inner->by)->name + "_joined",
                                  *std::move(both))
                   : patch.constant(*std::move(both));
  for (const ValueInfo* by : {inner->by, outer->by})
    if (by->is_weight) patch.fold_in(by);
  patch.replace(second->output(), patch.node(factors ? Op::kMul : Op::kAdd, {inner->x, constant},
                                             {}, second->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAdd, Op::kDiv, Op::kMul, Op::kSub};

}  // namespace

// Before opset 7 an attribute said where the smaller operand belongs.
const Rule kMergeScaleFactors = {"merge-scale-factors", kRoots, join, 7, /*changes_weights=*/true};

}  // namespace sardonyx::passes

// Before: y = Mul(weight, Mul(x, Reciprocal(Sqrt(Add(ReduceMean<axes = [-1]>(Mul(x, x)), e)))))
// After:  y = RMSNormalization<axis = -1, epsilon = e>(x, weight)
// So, too, where the square is Pow(x, 2), where x is divided by the root, and where the factors of
// a product stand the other way round. Language models write it out, in a class of their own each.
#include <optional>

#include "passes/rules/normalization/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

std::optional<double> number(const ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr || value->constant->element_count() != 1)
    return std::nullopt;
  const auto reals = value->constant->reals();
  return reals ? std::optional(reals->front()) : std::nullopt;
}

// The node that made the value, when it is this operator and nothing else reads it.
Node* only_for(const ValueInfo* value, Op op) {
  return value != nullptr && used_once(value) ? made_by(value, op) : nullptr;
}

// What is squared; null where `value` is no square.
ValueInfo* root_of(const ValueInfo* value) {
  if (const Node* power = only_for(value, Op::kPow))
    return number(power->input(1)) == 2.0 ? power->input(0) : nullptr;
  const Node* product = only_for(value, Op::kMul);
  return product != nullptr && product->input(0) == product->input(1) ? product->input(0) : nullptr;
}

bool over_last_axis(const Node* mean) {
  const ValueInfo *x = mean->input(0), *axes = mean->input(1);
  if (mean->int_or("keepdims", 1) == 0 || axes == nullptr || axes->constant == nullptr)
    return false;
  const auto list = axes->constant->ints();
  if (!list || list->size() != 1 || !x->has_rank) return false;
  const auto rank = static_cast<std::int64_t>(x->shape.size());
  return list->front() == -1 || list->front() == rank - 1;
}

struct Deviation {
  ValueInfo* x;
  double epsilon;
};

// Of Sqrt(Add(ReduceMean(x^2), epsilon)).
std::optional<Deviation> deviation_of(const ValueInfo* value) {
  const Node* root = only_for(value, Op::kSqrt);
  const Node* sum = root == nullptr ? nullptr : only_for(root->input(0), Op::kAdd);
  if (sum == nullptr) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* mean = only_for(sum->input(side), Op::kReduceMean);
    const auto epsilon = number(sum->input(1 - side));
    if (mean == nullptr || !epsilon || !over_last_axis(mean)) continue;
    if (ValueInfo* x = root_of(mean->input(0))) return Deviation{x, *epsilon};
  }
  return std::nullopt;
}

// Of x / deviation, or of x * (1 / deviation) either way round.
std::optional<Deviation> normalized(const ValueInfo* value) {
  if (const Node* quotient = only_for(value, Op::kDiv)) {
    const auto found = deviation_of(quotient->input(1));
    return found && found->x == quotient->input(0) ? found : std::nullopt;
  }
  const Node* product = only_for(value, Op::kMul);
  if (product == nullptr) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* inverse = only_for(product->input(side), Op::kReciprocal);
    const auto found = inverse == nullptr ? std::nullopt : deviation_of(inverse->input(0));
    if (found && found->x == product->input(1 - side)) return found;
  }
  return std::nullopt;
}

bool is_scale_of(const ValueInfo* weight, const ValueInfo* x) {
  return weight->has_rank && weight->shape.size() == 1 && x->has_rank && !x->shape.empty() &&
         weight->shape[0].known() && weight->shape[0] == x->shape.back();
}

bool raise(Node* product, RuleContext& context) {
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    ValueInfo* const weight = product->input(1 - side);
    const auto found = weight == nullptr ? std::nullopt : normalized(product->input(side));
    if (!found) continue;
    if (!is_scale_of(weight, found->x))
      return context.decline(product, "what it is scaled by is no vector of the last axis");
    const auto epsilon = static_cast<float>(found->epsilon);
    if (found->x->dtype == onnx::DType::kFloat64 && double{epsilon} != found->epsilon)
      return context.decline(product, "float32, the type of the attribute, does not hold epsilon");
    Patch patch(context, product);
    patch.replace(product->output(),
                  patch.node(Op::kRMSNormalization, {found->x, weight}, {{"epsilon", epsilon, {}}},
                             product->output()->name));
    return patch.apply();
  }
  return false;
}

constexpr Op kRoots[] = {Op::kMul};

}  // namespace

const Rule kRaiseRmsNormalization = {"raise-rms-normalization", kRoots, raise, 23};

}  // namespace sardonyx::passes

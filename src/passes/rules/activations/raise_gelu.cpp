// Before: y = Mul(Mul(x, 0.5), Add(Erf(Div(x, sqrt(2))), 1))
// After:  y = Gelu(x)
// Before: y = Mul(Mul(x, 0.5), Add(Tanh(Mul(Add(x, Mul(Pow(x, 3), 0.044715)), sqrt(2 / pi))), 1))
// After:  y = Gelu<approximate = "tanh">(x)
// Factors stand in any order; a half is a division by two in some, and x may be taken out of the
// bracket before tanh.
#include <string>

#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX };

constexpr double kRootOfTwo = 1.4142135623730951, kRootOfTwoByPi = 0.7978845608028654;

// x/2 * (1 + p)
template <std::size_t N>
constexpr auto half_of_x_times(const Pattern<N>& p) {
  const auto sum = op(Op::kAdd, is_number(1), p);
  return either(op(Op::kMul, any(kX), is_number(0.5), sum),
                op(Op::kDiv, op(Op::kMul, any(kX), sum), is_number(2)),
                op(Op::kMul, op(Op::kDiv, any(kX), is_number(2)), sum));
}

constexpr auto kByErf =
    half_of_x_times(op(Op::kErf, either(op(Op::kDiv, any(kX), is_number(kRootOfTwo)),
                                        op(Op::kMul, any(kX), is_number(1 / kRootOfTwo)))));

constexpr auto kFactor = is_number(0.044715);
constexpr auto kCube = either(op(Op::kMul, kFactor, op(Op::kPow, any(kX), is_number(3))),
                              op(Op::kMul, kFactor, any(kX), any(kX), any(kX)));
constexpr auto kSquare = either(op(Op::kMul, kFactor, op(Op::kPow, any(kX), is_number(2))),
                                op(Op::kMul, kFactor, any(kX), any(kX)));
constexpr auto kByTanh = half_of_x_times(op(
    Op::kTanh,
    either(op(Op::kMul, is_number(kRootOfTwoByPi), op(Op::kAdd, any(kX), kCube)),
           op(Op::kMul, is_number(kRootOfTwoByPi), any(kX), op(Op::kAdd, is_number(1), kSquare)))));

bool raise(Node* root, RuleContext& context) {
  auto found = match(kByErf, root, context);
  const bool exact = found.has_value();
  if (!found) found = match(kByTanh, root, context);
  if (!found) return false;
  Patch patch(context, root);
  patch.replace(root->output(),
                patch.node(Op::kGelu, {(*found)[kX]},
                           {{"approximate", std::string(exact ? "none" : "tanh"), {}}},
                           root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul, Op::kDiv};

}  // namespace

const Rule kRaiseGelu = {"raise-gelu", kRoots, raise, 20};

}  // namespace sardonyx::passes

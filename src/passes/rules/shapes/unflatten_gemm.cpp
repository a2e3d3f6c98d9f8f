// Before: y = Reshape(Gemm(Reshape(x, [-1, k]), weight, bias), [batch, length, n])
// After:  y = Add(MatMul(x, weight), bias)
// addmm takes matrices only; MatMul takes x as it is, and no shape needs to be put together.
#include "passes/rules/shapes/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;

bool plain(const Node* gemm) {
  return gemm->float_or("alpha", 1) == 1 && gemm->float_or("beta", 1) == 1 &&
         gemm->int_or("transA", 0) == 0 && gemm->int_or("transB", 0) == 0;
}

bool has_rank(const ValueInfo* value, std::size_t rank) {
  return value != nullptr && value->has_rank && value->shape.size() == rank;
}

// `to` has the dims of `from` but for the last, which is `last`.
bool same_but_last(const Shape& from, const Shape& to, symbolic::Expr last) {
  if (from.size() != to.size() || !last.known() || !(to.back() == last)) return false;
  for (std::size_t i = 0; i + 1 < from.size(); ++i)
    if (!from[i].known() || !(from[i] == to[i])) return false;
  return true;
}

bool unflatten(Node* last, RuleContext& context) {
  ValueInfo* const y = last->output();
  const Node* gemm = made_by(last->input(0), Op::kGemm);
  if (y == nullptr || gemm == nullptr) return false;
  const Node* flatten = made_by(gemm->input(0), Op::kReshape);
  if (flatten == nullptr || !plain(gemm)) return false;
  if (!used_once(gemm->output())) return context.decline(last, "something else reads the product");
  ValueInfo* const weight = gemm->input(1);
  ValueInfo* const bias = gemm->input(2);
  ValueInfo* const x = flatten->input(0);
  if (!y->has_rank || !has_rank(gemm->input(0), 2) || !has_rank(weight, 2) || !x->has_rank ||
      (bias != nullptr && !has_rank(bias, 1)))  // [1] broadcasts, too
    return context.decline(last, "a rank is not known, or not that of rows and a bias");
  if (x->shape.size() < 3 || !x->shape.back().known() ||
      !(x->shape.back() == gemm->input(0)->shape[1]) ||
      !same_but_last(x->shape, y->shape, weight->shape[1]))
    return context.decline(last, "the product is not given the shape back that was taken");
  // Of integers a Gemm is what runtimes have, where they have products of them at all.
  if (!base::is_floating(x->dtype)) return context.decline(last, "it multiplies integers");

  const std::string name = gemm->output()->name;
  Patch patch(context, last);
  ValueInfo* result =
      patch.node(Op::kMatMul, {x, weight}, {}, bias != nullptr ? name + "_MatMul" : name);
  if (bias != nullptr) result = patch.node(Op::kAdd, {result, bias}, {}, name);
  patch.replace(y, result);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape};

}  // namespace

const Rule kUnflattenGemm = {"unflatten-gemm", kRoots, unflatten, 9};

}  // namespace sardonyx::passes

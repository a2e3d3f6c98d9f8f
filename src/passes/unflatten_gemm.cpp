// Before: y = Reshape(Gemm(Reshape(x, [-1, k]), weight, bias), [batch, length, n])
// After:  y = Add(MatMul(x, weight), bias)
// addmm takes matrices only; MatMul takes x as it is, and no shape needs to be put together.
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
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

bool unflatten(Node* last) {
  if (!last->is("Reshape")) return false;
  ValueInfo* const y = last->output();
  const Node* gemm = made_by(last->input(0), "Gemm");
  if (y == nullptr || !y->has_rank || gemm == nullptr || !plain(gemm) || !used_once(gemm->output()))
    return false;
  const Node* flatten = made_by(gemm->input(0), "Reshape");
  ValueInfo* const weight = gemm->input(1);
  ValueInfo* const bias = gemm->input(2);
  if (flatten == nullptr || !has_rank(gemm->input(0), 2) || !has_rank(weight, 2)) return false;
  ValueInfo* const x = flatten->input(0);
  if (!x->has_rank || x->shape.size() < 3 || !x->shape.back().known() ||
      !(x->shape.back() == gemm->input(0)->shape[1]) ||
      !same_but_last(x->shape, y->shape, weight->shape[1]))
    return false;
  if (bias != nullptr && !has_rank(bias, 1)) return false;  // [1] broadcasts, too
  // ONNX Runtime multiplies such integers only as matrices of its own making.
  if (!base::is_floating(x->dtype)) return false;

  const std::string name = gemm->output()->name;
  ValueInfo* result =
      insert_node(last, "MatMul", {x, weight}, {}, bias != nullptr ? name + "_MatMul" : name)
          ->output();
  if (bias != nullptr) result = insert_node(last, "Add", {result, bias}, {}, name)->output();
  result->shape = y->shape;
  return replace(y, result);
}

}  // namespace

bool unflatten_gemm(onnx::Model& model) {
  return opset_of(model) >= 9 && each_node(model.graph, unflatten);
}

}  // namespace sardonyx::passes

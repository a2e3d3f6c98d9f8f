// Before: y = Reshape(Gemm(Reshape(x, [-1, k]), weight, bias), [batch, length, n])
// After:  y = Add(MatMul(x, weight), bias)
// addmm takes matrices only; MatMul takes x as it is, and no shape needs to be put together.
// Before: y = Reshape(Gemm(Reshape(x, [-1, k]), weight, bias), [windows, tokens, heads, n / heads])
// After:  y = Reshape(Add(MatMul(Reshape(x, [windows, tokens, k]), weight), bias), [...])
// as flatten-products leaves models behind, and others: attention is looked for in this form.
// Before: y = Reshape(Gemm(Reshape(x, [-1, k]), weight, bias), [length, batch, n])
// After:  y = Add(MatMul(Reshape(x, [length, batch, k]), weight), bias)
// with x: [length, batch, heads, k / heads].
#include <algorithm>
#include <optional>

#include "passes/rules/dense/rules.h"
#include "passes/rules/reshape/reshaped_dims.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;

// A weight whose axes stand the other way round is turned, where weights may change.
bool plain(const Node* gemm, const RuleContext& context) {
  const bool turned = gemm->int_or("transB", 0) != 0;
  return gemm->float_or("alpha", 1) == 1 && gemm->float_or("beta", 1) == 1 &&
         gemm->int_or("transA", 0) == 0 &&
         (!turned || (gemm->input(1)->constant != nullptr && context.may_change_weights()));
}

// Axis `axis` of the second factor.
symbolic::Expr factor_size(const Node* gemm, std::size_t axis) {
  return gemm->input(1)->shape[gemm->int_or("transB", 0) != 0 ? 1 - axis : axis];
}

// The second factor of the product.
ValueInfo* factor(const Node* gemm, Patch& patch) {
  ValueInfo* const weight = gemm->input(1);
  if (gemm->int_or("transB", 0) == 0) return weight;
  return patch.node(Op::kTranspose, {weight}, {{"perm", std::vector<std::int64_t>{1, 0}, {}}},
                    weight->name + "_turned");
}

bool has_rank(const ValueInfo* value, std::size_t rank) {
  return value != nullptr && value->has_rank && value->shape.size() == rank;
}

// [windows, tokens] where the sizes behind them multiply to the width of a row.
std::optional<Shape> windows_of(const ValueInfo* value, symbolic::Expr width) {
  if (!value->has_rank || value->shape.size() < 4 || !width.is_constant()) return std::nullopt;
  std::int64_t size = 1;
  for (std::size_t i = 2; i < value->shape.size(); ++i) {
    if (!value->shape[i].is_constant() || value->shape[i].value() <= 0) return std::nullopt;
    if (__builtin_mul_overflow(size, value->shape[i].value(), &size)) return std::nullopt;
  }
  if (size != width.value()) return std::nullopt;
  return Shape(value->shape.begin(), value->shape.begin() + 2);
}

// The windows as another product has them already; null where none before `reader` does.
ValueInfo* reshaped_before(const ValueInfo* x, const Shape& shape, const Node* reader) {
  for (const onnx::Use& use : x->uses) {
    if (use.node == nullptr || !use.node->is(Op::kReshape) || use.index != 0) continue;
    ValueInfo* const found = use.node->output();
    if (found->has_rank && std::ranges::equal(found->shape, shape) &&
        onnx::is_visible(found, reader))
      return found;
  }
  return nullptr;
}

// The MatMul of windows that are merged before it and split again after it.
bool keep_windows(Node* last, const Node* gemm, const Node* flatten, RuleContext& context) {
  ValueInfo *const y = last->output(), *const x = flatten->input(0);
  ValueInfo* const bias = gemm->input(2);
  if (bias == nullptr || y->dtype != base::DType::kFloat32) return false;
  auto windows = windows_of(y, factor_size(gemm, 1));
  if (!windows) windows = windows_of(x, factor_size(gemm, 0));
  if (!windows) return false;
  windows->push_back(factor_size(gemm, 0));
  const std::vector<std::int64_t> before = dims_for_reshape(*windows), after = dims_for_reshape(y);
  if (before.empty() || after.empty()) return false;
  const std::string name = gemm->output()->name;
  Patch patch(context, last);
  ValueInfo* result = reshaped_before(x, *windows, last);
  if (result == nullptr)
    result = patch.node(Op::kReshape, {x, patch.ints(before)}, {}, name + "_windows");
  result = patch.node(Op::kMatMul, {result, factor(gemm, patch)}, {}, name + "_MatMul");
  result = patch.node(Op::kAdd, {result, bias}, {}, name);
  patch.replace(y, patch.node(Op::kReshape, {result, patch.ints(after)}, {}, y->name));
  return patch.apply();
}

// x with the rows as y has them; null where they are others.
ValueInfo* rows_of(ValueInfo* x, const Shape& y, symbolic::Expr width, Patch& patch) {
  const std::size_t leading = y.size() - 1;
  if (leading < 2 || x->shape.size() <= leading || !width.is_constant()) return nullptr;
  for (std::size_t i = 0; i < leading; ++i)
    if (!y[i].known() || !(x->shape[i] == y[i])) return nullptr;
  if (x->shape.size() == y.size()) return x->shape.back() == width ? x : nullptr;
  symbolic::Expr size = 1;
  for (std::size_t i = leading; i < x->shape.size(); ++i) {
    if (!x->shape[i].is_constant()) return nullptr;
    size = size * x->shape[i];
  }
  if (!(size == width)) return nullptr;
  std::vector<std::int64_t> dims(leading, 0);
  dims.push_back(width.value());
  return patch.node(Op::kReshape, {x, patch.ints(std::move(dims))}, {}, x->name + "_rows");
}

bool unflatten(Node* last, RuleContext& context) {
  ValueInfo* const y = last->output();
  const Node* gemm = made_by(last->input(0), Op::kGemm);
  if (y == nullptr || gemm == nullptr) return false;
  const Node* flatten = made_by(gemm->input(0), Op::kReshape);
  if (flatten == nullptr || !plain(gemm, context)) return false;
  if (!used_once(gemm->output())) return context.decline(last, "something else reads the product");
  ValueInfo* const bias = gemm->input(2);
  ValueInfo* const x = flatten->input(0);
  if (!y->has_rank || !has_rank(gemm->input(0), 2) || !has_rank(gemm->input(1), 2) ||
      !x->has_rank || (bias != nullptr && !has_rank(bias, 1)))  // [1] broadcasts, too
    return context.decline(last, "a rank is not known, or not that of rows and a bias");
  if (keep_windows(last, gemm, flatten, context)) return true;
  Patch patch(context, last);
  const symbolic::Expr width = gemm->input(0)->shape[1];
  ValueInfo* const rows = y->shape.empty() || !factor_size(gemm, 1).known() ||
                                  !(y->shape.back() == factor_size(gemm, 1))
                              ? nullptr
                              : rows_of(x, y->shape, width, patch);
  if (rows == nullptr)
    return context.decline(last, "the product is not given the shape back that was taken");
  // Of integers a Gemm is what runtimes have, where they have products of them at all.
  if (!base::is_floating(x->dtype)) return context.decline(last, "it multiplies integers");

  const std::string name = gemm->output()->name;
  ValueInfo* result = patch.node(Op::kMatMul, {rows, factor(gemm, patch)}, {},
                                 bias != nullptr ? name + "_MatMul" : name);
  if (bias != nullptr) result = patch.node(Op::kAdd, {result, bias}, {}, name);
  patch.replace(y, result);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape};

}  // namespace

const Rule kUnflattenGemm = {"unflatten-gemm", kRoots, unflatten, 9};

}  // namespace sardonyx::passes

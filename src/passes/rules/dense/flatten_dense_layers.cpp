// Before: y = Sum(MatMul(Gelu(Add(MatMul(x, v), a)), w), c, r)      x of [n, rows, k]
// After:  y = Add(Reshape(Gemm(Gelu(Gemm(Reshape(x, [-1, k]), v, a)), w, c), [n, rows, k]), r)
// Gemm adds the bias as it multiplies, which saves two walks over what was computed, and what
// stands between needs no axes. So, too, without r, and with other operators of one input. Of few
// rows, and of long ones, whose products take nearly all of the time, nothing is gained: the
// target's tuning has both limits. After lowering, since rules look for sums.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/gen/op.h"
#include "onnx/operators/traits.h"
#include "passes/rules/dense/dense_layers.h"
#include "passes/rules/dense/rules.h"
#include "passes/rules/reshape/reshaped_dims.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool has_many_short_rows(const ValueInfo* x, const rewriting::Tuning& tuning) {
  if (tuning.max_gemm_row_length == 0 || x == nullptr || x->dtype != onnx::DType::kFloat32 ||
      !x->has_rank || x->shape.size() < 3 || x->is_disputed)
    return false;
  std::int64_t rows = 1;
  for (std::size_t i = 1; i < x->shape.size(); ++i) {
    const symbolic::Expr size = x->shape[i];
    if (!size.known() || !size.is_constant() || size.value() < 1) return false;
    if (i + 1 < x->shape.size()) rows = std::min(rows, tuning.min_gemm_rows) * size.value();
  }
  return rows >= tuning.min_gemm_rows && x->shape.back().value() <= tuning.max_gemm_row_length;
}

void made_of(ValueInfo* made, const Node* origin) {
  made->producer->origin = origin->origin;
  made->producer->metadata = origin->metadata;
}

bool flatten(Node* root, RuleContext& context) {
  ValueInfo* const x = root->input(0);
  if (!has_many_short_rows(x, context.tuning())) return false;
  const Dense first = dense_of(root);
  if (first.sum == nullptr || first.added != nullptr) return false;
  Node* const activation = only_reader(first.sum);
  if (activation == nullptr || activation->inputs.size() != 1 ||
      !onnx::has_trait(activation->op, onnx::Trait::kPointwise))
    return false;
  const Dense second = dense_of(only_reader(activation));
  if (second.sum == nullptr || second.product->input(0) != activation->output()) return false;
  const std::vector<std::int64_t> dims = dims_for_reshape(second.product->output());
  if (dims.empty()) return false;

  Patch patch(context, second.sum);
  ValueInfo* const rows = patch.node(Op::kReshape, {x, patch.ints({-1, x->shape.back().value()})},
                                     {}, x->name + "_rows");
  ValueInfo* const wide =
      patch.node(Op::kGemm, {rows, first.weight, first.bias}, {}, first.sum->output()->name);
  ValueInfo* const active =
      patch.node(activation->op, {wide}, activation->attributes, activation->output()->name);
  ValueInfo* const narrow = patch.node(Op::kGemm, {active, second.weight, second.bias}, {},
                                       second.product->output()->name);
  if (patch.failed()) return patch.apply();
  // They stay what their modules are made of.
  made_of(wide, first.product);
  made_of(active, activation);
  made_of(narrow, second.product);
  ValueInfo* y = patch.node(
      Op::kReshape, {narrow, patch.ints(dims)}, {},
      second.added == nullptr ? second.sum->output()->name : second.product->output()->name);
  if (second.added != nullptr)
    y = patch.node(Op::kAdd, {y, second.added}, {}, second.sum->output()->name);
  patch.replace(second.sum->output(), y);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMatMul};

}  // namespace

const Rule kFlattenDenseLayers = {"flatten-dense-layers", kRoots, flatten, 13};

}  // namespace sardonyx::passes

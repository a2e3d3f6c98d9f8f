// Before: y = Reshape(Softmax(Flatten<axis = 1>(x)), Shape(x))
// After:  y = Softmax<axis = 1>(x)
// in opsets below 13, where Softmax and its like run over all axes from that one on; so models of
// these opsets had it.
#include <algorithm>

#include "passes/rules/reshape/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

constexpr std::int64_t kNewForm = 13;

bool join(Node* reshape, RuleContext& context) {
  if (context.opset() >= kNewForm) return false;
  const Node* softmax = reshape->input(0) == nullptr ? nullptr : reshape->input(0)->producer;
  if (softmax == nullptr ||
      !(softmax->is(Op::kSoftmax) || softmax->is(Op::kLogSoftmax) || softmax->is(Op::kHardmax)))
    return false;
  const Node* flatten = made_by(softmax->input(0), Op::kFlatten);
  if (flatten == nullptr || !used_once(softmax->output()) || !used_once(flatten->output()))
    return false;
  const std::int64_t over = softmax->int_or("axis", 1);
  ValueInfo* const x = flatten->input(0);
  const ValueInfo* const y = reshape->output();
  const std::int64_t axis = flatten->int_or("axis", 1);
  if ((over != 1 && over != -1) || axis < 0 || !x->has_rank || !y->has_rank ||
      !std::ranges::equal(x->shape, y->shape))
    return context.decline(reshape, "it is not given the shape back that was flattened");
  Patch patch(context, reshape);
  patch.replace(reshape->output(),
                patch.node(softmax->op, {x}, {{"axis", axis, {}}}, reshape->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape};

}  // namespace

const Rule kSoftmaxOfAxes = {"softmax-of-axes", kRoots, join};

}  // namespace sardonyx::passes

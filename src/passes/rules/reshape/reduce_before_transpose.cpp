// Before: y = ReduceMean<keepdims = 0>(Transpose<perm = [0, 2, 3, 1]>(x), [1, 2])
// After:  y = ReduceMean<keepdims = 0>(x, [2, 3])
// Where axes go and those that are left stand in the order that they had, nothing has to be
// transposed; nor where a Reshape follows and axes of size 1 alone have changed places.
#include <string>
#include <utility>

#include "passes/rules/reshape/reshaping.h"
#include "passes/rules/reshape/rules.h"
#include "passes/transposition/transpose_sinking.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool reshape(Node* node, ValueInfo* x, RuleContext& context) {
  ValueInfo* const y = node->output();
  if (!has_known_sizes(x) || !has_known_sizes(y))
    return context.decline(node, "a size before or behind it is not known");
  Patch patch(context, node);
  ValueInfo* const made = reshaped(patch, x, y->shape, y->name);
  if (made == nullptr || made == x || made->producer->input(1)->constant == nullptr)
    return context.decline(node, "the shape has to be put together");
  patch.replace(y, made);
  return patch.apply();
}

bool lose(Node* node, RuleContext& context) {
  Node* const transpose = made_by(node->input(0), Op::kTranspose);
  const auto perm = perm_of(transpose);
  if (!perm || node->output() == nullptr) return false;
  ValueInfo* const x = transpose->input(0);
  if (node->is(Op::kReshape) || node->is(Op::kFlatten))
    return moves_no_element(transpose->output(), *perm) && reshape(node, x, context);
  auto axes = lost_axes(node, *perm);
  if (!axes) return false;
  Patch patch(context, node);
  std::vector<ValueInfo*> inputs = node->inputs;
  std::vector<onnx::Attribute> attributes = node->attributes;
  inputs[0] = x;
  if (inputs.size() > 1) {
    inputs[1] = patch.ints(*std::move(axes));
  } else {
    std::erase_if(attributes, [](const onnx::Attribute& each) { return each.name == "axis"; });
    attributes.push_back({"axis", axes->front(), {}});
  }
  patch.replace(node->output(), patch.node(node->op, std::move(inputs), std::move(attributes),
                                           node->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {
    Op::kArgMax,          Op::kArgMin,          Op::kFlatten,    Op::kReduceL1,  Op::kReduceL2,
    Op::kReduceLogSumExp, Op::kReduceMax,       Op::kReduceMean, Op::kReduceMin, Op::kReduceProd,
    Op::kReduceSum,       Op::kReduceSumSquare, Op::kReshape,    Op::kSqueeze,
};

}  // namespace

// Since opset 18 all of them take axes as an input.
const Rule kReduceBeforeTranspose = {"reduce-before-transpose", kRoots, lose, 18};

}  // namespace sardonyx::passes

// Before: g = Reshape(x, [0, groups, -1]); n = InstanceNormalization(g, ones, zeros)
//         y = Reshape(n, Shape(x))
// After:  y = GroupNormalization<num_groups = groups>(x, ones, zeros)
// Scale and bias follow by affine-group-normalization.
#include "passes/rules/normalization/affine.h"
#include "passes/rules/normalization/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

enum { kX, kGroups, kGroupsShape, kOnes, kZeros, kNormal, kShape };

constexpr auto kWritten =
    op(Op::kReshape,
       as(kNormal,
          op(Op::kInstanceNormalization, as(kGroups, op(Op::kReshape, any(kX), any(kGroupsShape))),
             any(kOnes, is_ones), any(kZeros, is_zeros))),
       any(kShape));

// Of [batch, channels, ...] as [batch, groups, rest]: how many there are; 0 where it is another.
std::int64_t groups_of(const ValueInfo* x, const ValueInfo* grouped) {
  if (!x->has_rank || !grouped->has_rank || x->shape.size() < 2 || grouped->shape.size() != 3)
    return 0;
  const symbolic::Expr channels = x->shape[1], groups = grouped->shape[1];
  if (!channels.known() || !groups.known() || !channels.is_constant() || !groups.is_constant())
    return 0;
  if (!x->shape[0].known() || !(x->shape[0] == grouped->shape[0])) return 0;
  return groups.value() > 0 && channels.value() % groups.value() == 0 ? groups.value() : 0;
}

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  ValueInfo* const x = (*found)[kX];
  const std::int64_t groups = groups_of(x, (*found)[kGroups]);
  if (groups == 0 || !same_dims(x, root->output()))
    return context.decline(root, "what is normalised is not seen to be groups of channels");
  const std::vector<std::int64_t> channels = {x->shape[1].value()};
  const float epsilon = found->node(kNormal)->float_or("epsilon", 1e-5F);
  Patch patch(context, root);
  patch.replace(
      root->output(),
      patch.node(Op::kGroupNormalization,
                 {x, patch.constant(Tensor::filled(x->dtype, channels, 1)),
                  patch.constant(Tensor::filled(x->dtype, channels, 0))},
                 {{"epsilon", epsilon, {}}, {"num_groups", groups, {}}}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape};

}  // namespace

const Rule kRaiseGroupNormalization = {"raise-group-normalization", kRoots, raise, 21};

}  // namespace sardonyx::passes

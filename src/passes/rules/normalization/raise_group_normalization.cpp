// Before: g = Reshape(x, [0, groups, -1]); n = InstanceNormalization(g, ones, zeros)
//         y = Reshape(n, Shape(x))
// After:  y = GroupNormalization<num_groups = groups>(x, ones, zeros)
// Scale and bias follow by affine-group-normalization.
#include <cstdint>
#include <vector>

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

enum { kX, kGroupsShape, kOnes, kZeros, kNormal, kShape };

constexpr auto kWritten =
    op(Op::kReshape,
       as(kNormal, op(Op::kInstanceNormalization, op(Op::kReshape, any(kX), any(kGroupsShape)),
                      any(kOnes, is_ones), any(kZeros, is_zeros))),
       any(kShape));

// Of [batch, channels, ...] reshaped to [batch, groups, rest]: how many there are; 0 where it is
// reshaped otherwise.
std::int64_t groups_of(const ValueInfo* x, const ValueInfo* shape) {
  const auto wanted = shape->constant == nullptr ? std::nullopt : shape->constant->ints();
  if (!x->has_rank || x->shape.size() < 2 || !wanted || wanted->size() != 3) return 0;
  const symbolic::Expr batch = x->shape[0], channels = x->shape[1];
  const bool keeps_batch = (*wanted)[0] == 0 || (batch.known() && batch.is((*wanted)[0]));
  const std::int64_t groups = (*wanted)[1];
  if (!keeps_batch || groups <= 0 || !channels.known() || !channels.is_constant()) return 0;
  return channels.value() % groups == 0 ? groups : 0;
}

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  ValueInfo* const x = (*found)[kX];
  const std::int64_t groups = groups_of(x, (*found)[kGroupsShape]);
  if (groups == 0 || !same_dims(x, root->output()))
    return context.decline(root, "what is normalized is not seen to be groups of channels");
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

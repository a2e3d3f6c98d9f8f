// Before: s = Reshape(x, [n, c, b, b, h, w]); y = Reshape(Transpose<perm = [0, 1, 4, 2, 5, 3]>(s),
// ...) After:  y = DepthToSpace<blocksize = b, mode = "CRD">(x) So, too, the other order of
// channels ("DCR"), and the way back, SpaceToDepth.
#include <array>
#include <optional>
#include <string>

#include "passes/rules/reshape/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;
using symbolic::Expr;

enum { kX, kSplit, kSplitShape, kTurned, kShape };

// The first Reshape moves nothing: that others read it does no harm.
constexpr auto kSixAxes = as(kSplit, shared(op(Op::kReshape, any(kX), any(kSplitShape))));
constexpr auto kWritten = op(Op::kReshape, as(kTurned, op(Op::kTranspose, kSixAxes)), any(kShape));

// Where the six axes of the split tensor are those of the four that come in and go out.
struct Form {
  Op op;
  std::string_view mode;
  std::array<std::int64_t, 6> perm;
  std::size_t down, across;                        // the axes of the block
  std::array<std::array<std::size_t, 3>, 4> from;  // each axis of x as those it was split into
};

constexpr std::size_t kNone = 6;

constexpr Form kForms[] = {
    {Op::kDepthToSpace,
     "CRD",
     {0, 1, 4, 2, 5, 3},
     2,
     3,
     {{{0, kNone, kNone}, {1, 2, 3}, {4, kNone, kNone}, {5, kNone, kNone}}}},
    {Op::kDepthToSpace,
     "DCR",
     {0, 3, 4, 1, 5, 2},
     1,
     2,
     {{{0, kNone, kNone}, {1, 2, 3}, {4, kNone, kNone}, {5, kNone, kNone}}}},
    {Op::kSpaceToDepth,
     {},
     {0, 3, 5, 1, 2, 4},
     3,
     5,
     {{{0, kNone, kNone}, {1, kNone, kNone}, {2, 3, kNone}, {4, 5, kNone}}}},
};

// Whether the sizes are products of those of the split tensor, read in this order.
bool is_split_so(const Shape& shape, const Form& form, const Shape& split) {
  for (std::size_t i = 0; i < 4; ++i) {
    Expr product = 1;
    for (const std::size_t axis : form.from[i])
      if (axis != kNone) product = product * split[axis];
    if (!shape[i].known() || !product.known() || !(shape[i] == product)) return false;
  }
  return true;
}

// What comes out has the channels of the one form where the other has those of x.
bool is_joined_so(const Shape& shape, const Form& form, const Shape& split) {
  const auto turned = [&](std::size_t i) { return split[static_cast<std::size_t>(form.perm[i])]; };
  const bool up = form.op == Op::kDepthToSpace;
  const std::array<Expr, 4> wanted = {turned(0), up ? turned(1) : turned(1) * turned(2) * turned(3),
                                      up ? turned(2) * turned(3) : turned(4),
                                      up ? turned(4) * turned(5) : turned(5)};
  for (std::size_t i = 0; i < 4; ++i)
    if (!shape[i].known() || !wanted[i].known() || !(shape[i] == wanted[i])) return false;
  return true;
}

const Form* form_of(const std::vector<std::int64_t>& perm) {
  for (const Form& form : kForms)
    if (std::ranges::equal(perm, form.perm)) return &form;
  return nullptr;
}

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  const auto* perm = found->node(kTurned)->ints("perm");
  const Form* const form = perm == nullptr ? nullptr : form_of(*perm);
  ValueInfo* const x = (*found)[kX];
  const ValueInfo *split = (*found)[kSplit], *y = root->output();
  if (form == nullptr || !split->has_rank || split->shape.size() != 6 || !x->has_rank ||
      x->shape.size() != 4 || !y->has_rank || y->shape.size() != 4)
    return false;
  const Expr block = split->shape[form->down];
  if (!block.known() || !block.is_constant() || !(block == split->shape[form->across]))
    return false;
  if (!is_split_so(x->shape, *form, split->shape) || !is_joined_so(y->shape, *form, split->shape))
    return context.decline(root, "the sizes are not seen to be those of blocks");
  std::vector<onnx::Attribute> attributes = {{"blocksize", block.value(), {}}};
  if (!form->mode.empty()) attributes.push_back({"mode", std::string(form->mode), {}});
  Patch patch(context, root);
  patch.replace(root->output(),
                patch.node(form->op, {x}, std::move(attributes), root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape};

}  // namespace

const Rule kRaiseDepthToSpace = {"raise-depth-to-space", kRoots, raise, 13};

}  // namespace sardonyx::passes

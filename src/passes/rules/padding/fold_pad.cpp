// Before: y = Conv<pads = p>(Pad<constant>(x, [0, 0, top, left, 0, 0, bottom, right]), weight,
// bias)
// After:  y = Conv<pads = p + [top, left, bottom, right]>(x, weight, bias)
#include <utility>

#include "passes/rules/padding/padding.h"
#include "passes/rules/padding/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;

bool fold(Node* conv, RuleContext& context) {
  const Node* pad = made_by(conv->input(0), Op::kPad);
  if (pad == nullptr) return false;
  if (pad->graph != conv->graph) return context.decline(conv, "the Pad stands in another graph");
  if (conv->string_or("auto_pad", "NOTSET") != "NOTSET")
    return context.decline(conv, "it finds its pads itself (auto_pad)");
  if (fill_of(pad) != 0.0) return context.decline(conv, "the Pad does not fill with zeros");
  auto pads = image_padding_of(pad);
  if (!pads) return context.decline(conv, "the Pad is not of known sizes, or not of images alone");
  pads = with_own_pads(conv, *std::move(pads));
  if (!pads) return false;
  Patch patch(context, conv);
  patch.set_attribute(conv, "pads", *std::move(pads));
  patch.set_input(conv, 0, pad->input(0));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kConv};

}  // namespace

// Before opset 11 the pads were an attribute of Pad.
const Rule kFoldPad = {"fold-pad", kRoots, fold, 11};

}  // namespace sardonyx::passes

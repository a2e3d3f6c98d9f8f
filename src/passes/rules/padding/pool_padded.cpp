// Before: y = AveragePool(Pad<constant>(x, [0, 0, top, left, 0, 0, bottom, right]))
// After:  y = AveragePool<pads = [top, left, bottom, right], count_include_pad = 1>(x)
// Before: y = MaxPool<pads = p>(Pad<constant>(x, [...], -inf))
// After:  y = MaxPool<pads = p + [...]>(x)
// A Pad by zeros round what is not below zero is as good for a maximum.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "passes/rules/padding/padding.h"
#include "passes/rules/padding/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using Ints = std::vector<std::int64_t>;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool all_are(const Ints* values, std::int64_t value) {
  return values == nullptr ||
         std::ranges::all_of(*values, [=](std::int64_t each) { return each == value; });
}

bool is_never_negative(const ValueInfo* x) {
  if (made_by(x, Op::kRelu) != nullptr || made_by(x, Op::kSigmoid) != nullptr) return true;
  const Node* clip = made_by(x, Op::kClip);
  const auto least = clip == nullptr ? std::nullopt : number_of(clip->input(1));
  return least && *least >= 0;
}

// Why the pooling cannot pad by itself what `pad` pads; empty where it can.
std::string obstacle_to_mean(const Node* pool, const Node* pad) {
  if (fill_of(pad) != 0.0) return "the Pad does not fill with zeros";
  if (!all_are(pool->ints("pads"), 0) && pool->int_or("count_include_pad", 0) == 0)
    return "it counts the zeros of the Pad, and not its own";
  return {};
}

std::string obstacle_to_maximum(const Node* pool, const Node* pad) {
  if (pool->output(1) != nullptr) return "its places count what is padded";
  if (!base::is_floating(pad->input(0)->dtype)) return "it pads integers by their least itself";
  const auto fill = fill_of(pad);
  if (fill == -std::numeric_limits<double>::infinity()) return {};
  // Every window has an element of x then, which the zeros are not above.
  if (fill == 0.0 && is_never_negative(pad->input(0)) && all_are(pool->ints("dilations"), 1))
    return {};
  return "the Pad fills with what may be the greatest";
}

// Windows of padding alone are refused by runtimes.
bool reach_inside(const Ints& pads, const Ints* kernel) {
  if (kernel == nullptr || pads.size() != 2 * kernel->size()) return false;
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (pads[i] >= (*kernel)[i % kernel->size()]) return false;
  return true;
}

bool fold(Node* pool, RuleContext& context) {
  const Node* pad = made_by(pool->input(0), Op::kPad);
  if (pad == nullptr) return false;
  if (pad->graph != pool->graph) return context.decline(pool, "the Pad stands in another graph");
  if (pool->string_or("auto_pad", "NOTSET") != "NOTSET")
    return context.decline(pool, "it finds its pads itself (auto_pad)");
  if (pool->int_or("ceil_mode", 0) != 0)
    return context.decline(pool, "windows beyond the padding depend on who pads (ceil_mode)");
  const bool is_mean = pool->is(Op::kAveragePool);
  std::string obstacle = is_mean ? obstacle_to_mean(pool, pad) : obstacle_to_maximum(pool, pad);
  if (!obstacle.empty()) return context.decline(pool, std::move(obstacle));
  auto pads = image_padding_of(pad);
  if (!pads) return context.decline(pool, "the Pad is not of known sizes, or not of images alone");
  pads = with_own_pads(pool, *std::move(pads));
  if (!pads) return false;
  if (!reach_inside(*pads, pool->ints("kernel_shape")))
    return context.decline(pool, "a window would hold padding alone");

  Patch patch(context, pool);
  patch.set_attribute(pool, "pads", *std::move(pads));
  if (is_mean) patch.set_attribute(pool, "count_include_pad", std::int64_t{1});
  patch.set_input(pool, 0, pad->input(0));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAveragePool, Op::kMaxPool};

}  // namespace

// Before opset 11 the pads were an attribute of Pad.
const Rule kPoolPadded = {"pool-padded", kRoots, fold, 11};

}  // namespace sardonyx::passes

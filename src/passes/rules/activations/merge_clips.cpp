// Before: y = Clip(Relu(x), 0, 6); z = Clip(Clip(x, 1), inf, 3)
// After:  y = Clip(x, 0, 6);       z = Clip(x, 1, 3)
// Bounds are those of the first, as the second bounds them. Relu is a Clip from 0 on.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "onnx/graph/tensor.h"
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Bounds {
  double low, high;
  double of(double x) const { return std::min(std::max(x, low), high); }
};

// Of real numbers that float64 has all of; nothing where one is computed, or none is left between.
std::optional<Bounds> bounds_of(const Node* node) {
  if (node == nullptr || node->input(0) == nullptr || !base::is_floating(node->input(0)->dtype))
    return std::nullopt;
  if (node->is(Op::kRelu)) return Bounds{0, kInfinity};
  if (!node->is(Op::kClip)) return std::nullopt;
  const auto bound = [&](std::size_t index, double otherwise) {
    return node->input(index) == nullptr ? std::optional(otherwise) : number_of(node->input(index));
  };
  const auto low = bound(1, -kInfinity), high = bound(2, kInfinity);
  if (!low || !high || !(*low <= *high)) return std::nullopt;
  return Bounds{*low, *high};
}

bool join(Node* last, RuleContext& context) {
  const Node* first = last->input(0) == nullptr ? nullptr : last->input(0)->producer;
  const auto outer = bounds_of(last), inner = bounds_of(first);
  if (!outer || !inner || last->output() == nullptr) return false;
  if (!used_once(last->input(0)))
    return context.decline(last, "something else reads what is bounded twice");
  const Bounds both{outer->of(inner->low), outer->of(inner->high)};
  const onnx::DType dtype = last->input(0)->dtype;
  Patch patch(context, last);
  const auto number = [&](double bound) {
    return patch.constant(onnx::Tensor::filled(dtype, {}, bound));
  };
  std::vector<ValueInfo*> inputs = {first->input(0)};
  const bool is_relu = both.low == 0 && both.high == kInfinity;
  if (!is_relu) {
    inputs.push_back(both.low == -kInfinity ? nullptr : number(both.low));
    if (both.high != kInfinity) inputs.push_back(number(both.high));
  }
  patch.replace(last->output(), patch.node(is_relu ? Op::kRelu : Op::kClip, std::move(inputs), {},
                                           last->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kClip, Op::kRelu};

}  // namespace

// Before opset 11 bounds were attributes.
const Rule kMergeClips = {"merge-clips", kRoots, join, 11};

}  // namespace sardonyx::passes

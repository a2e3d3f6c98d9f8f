// Before: y = Relu(Relu(x)); z = Relu(Abs(x)); r = Round(Floor(x))
// After:  y = Relu(x);       z = Abs(x);       r = Floor(x)
// What has done its work once does nothing the second time, nor does what is done already: rounding
// of what is whole, and Relu of what is not below zero.
#include <algorithm>
#include <array>

#include "passes/rules/identities/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;

constexpr std::array kRounding = {Op::kCeil, Op::kFloor, Op::kRound, Op::kSign};
// NaN is kept by all of them.
constexpr std::array kNeverNegative = {Op::kAbs,  Op::kExp,     Op::kSigmoid,
                                       Op::kSqrt, Op::kSoftmax, Op::kSoftplus};

template <std::size_t N>
bool is_one_of(const Node* node, const std::array<Op, N>& ops) {
  return std::ranges::any_of(ops, [&](Op op) { return node->is(op); });
}

// Whether `node` gives back what `before` made.
bool does_nothing(const Node* node, const Node* before) {
  if (before->is(node->op) && (node->is(Op::kRelu) || node->is(Op::kAbs))) return true;
  if (node->is(Op::kSign)) return before->is(Op::kSign);
  if (is_one_of(node, kRounding)) return is_one_of(before, kRounding);
  if (node->is(Op::kAbs)) return before->is(Op::kRelu) || is_one_of(before, kNeverNegative);
  return node->is(Op::kRelu) && is_one_of(before, kNeverNegative);
}

// The least of integers is below zero and has no positive counterpart.
bool is_real(const Node* node) {
  const onnx::ValueInfo* x = node->input(0);
  return x != nullptr && base::is_floating(x->dtype);
}

bool drop(Node* node, RuleContext& context) {
  const Node* before = node->input(0) == nullptr ? nullptr : node->input(0)->producer;
  if (node->output() == nullptr || before == nullptr || !before->domain.empty() ||
      before->output() != node->input(0) || !is_real(node) || !does_nothing(node, before))
    return false;
  Patch patch(context, node);
  patch.replace(node->output(), node->input(0));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAbs, Op::kCeil, Op::kFloor, Op::kRelu, Op::kRound, Op::kSign};

}  // namespace

const Rule kIdempotent = {"idempotent", kRoots, drop, 6};

}  // namespace sardonyx::passes

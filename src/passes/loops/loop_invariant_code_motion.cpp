// Before: y = Loop(n, true, x) { w = Tanh(v); out = MatMul(each, w) }
// After:  w = Tanh(v); y = Loop(n, true, x) { out = MatMul(each, w) }
// What comes out the same in every run of a body of Loop or Scan is computed once, before it. A
// body may never run: what could fail for some value or size stays where it is.
#include <algorithm>

#include "onnx/gen/op.h"
#include "onnx/operators/operator.h"
#include "onnx/operators/traits.h"
#include "passes/passes.h"

namespace sardonyx::passes {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

enum class Safe : std::uint8_t {
  kAlways,     // whatever it is given
  kBroadcast,  // where its operands go together
  kDivision,   // the same, of real numbers
  kProduct,    // where rows are as long as columns
  kNever,
};

struct Entry {
  Op op;
  Safe safe;
};

// Others are by their traits.
constexpr Entry kEntries[] = {
    {Op::kBitShift, Safe::kNever},   {Op::kDequantizeLinear, Safe::kAlways},
    {Op::kDiv, Safe::kDivision},     {Op::kMatMul, Safe::kProduct},
    {Op::kMod, Safe::kDivision},     {Op::kReciprocal, Safe::kDivision},
    {Op::kShape, Safe::kAlways},     {Op::kSize, Safe::kAlways},
    {Op::kSoftmax, Safe::kAlways},   {Op::kTranspose, Safe::kAlways},
    {Op::kUnsqueeze, Safe::kAlways},
};

Safe safety_of(Op op) {
  const auto* entry = std::ranges::find(kEntries, op, &Entry::op);
  if (entry != std::end(kEntries)) return entry->safe;
  if (onnx::has_trait(op, onnx::Trait::kBroadcasts)) return Safe::kBroadcast;
  return onnx::has_trait(op, onnx::Trait::kPointwise) ? Safe::kAlways : Safe::kNever;
}

bool sizes_are_known(const ValueInfo* value) {
  return value->has_rank && std::ranges::all_of(value->shape, &symbolic::Expr::known);
}

// Sizes that are the same expression, or 1: no value of a symbol parts them.
bool go_together(const Node* node, std::size_t last_axes) {
  const ValueInfo *a = node->input(0), *b = node->input(1);
  if (node->inputs.size() != 2 || !sizes_are_known(a) || !sizes_are_known(b)) return false;
  for (std::size_t i = last_axes; i < std::min(a->shape.size(), b->shape.size()); ++i) {
    const symbolic::Expr x = a->shape[a->shape.size() - 1 - i],
                         y = b->shape[b->shape.size() - 1 - i];
    if (!(x == y) && !x.is(1) && !y.is(1)) return false;
  }
  return true;
}

bool never_fails(const Node* node) {
  const ValueInfo *a = node->input(0), *b = node->input(1);
  switch (safety_of(node->op)) {
    case Safe::kAlways:  // texts may be no numbers, and axes none that there are
      return a->dtype != onnx::DType::kString && (b == nullptr || b->constant != nullptr);
    case Safe::kDivision:
      if (!base::is_floating(a->dtype)) return false;
      return node->is(Op::kReciprocal) || go_together(node, 0);
    case Safe::kBroadcast:
      return go_together(node, 0);
    case Safe::kProduct:
      return go_together(node, 2) && a->shape.size() >= 2 && b->shape.size() >= 2 &&
             a->shape.back() == b->shape[b->shape.size() - 2];
    case Safe::kNever:
      return false;
  }
  return false;
}

// Whether the node could stand before `loop`, whose body it is in.
bool stays_the_same(const Node* node, const Node* loop) {
  if (node->op == onnx::kUnknownOp || onnx::operator_of(node->op).random || node->inputs.empty())
    return false;
  bool reads_outside = false;  // what reads constants alone is folded
  for (const ValueInfo* input : node->inputs) {
    if (input == nullptr) continue;
    if (input->is_disputed || !onnx::is_visible(input, loop)) return false;
    reads_outside = reads_outside || input->constant == nullptr || input->is_weight;
  }
  // An output of the body has to be made in it.
  return reads_outside && never_fails(node) &&
         std::ranges::all_of(node->outputs, [](const ValueInfo* output) {
           return output == nullptr || (output->returns.empty() && !output->is_disputed);
         });
}

std::int64_t hoist_in(Graph* graph) {
  std::int64_t moved = 0;
  for (Node* node = graph->first; node != nullptr; node = node->next) {
    for (Graph* body : onnx::bodies(node)) {
      moved += hoist_in(body);
      if (!node->is(Op::kLoop) && !node->is(Op::kScan)) continue;
      for (Node* inner = body->first; inner != nullptr;) {
        Node* const next = inner->next;
        if (stays_the_same(inner, node)) {
          onnx::move_before(node, inner);
          ++moved;
        }
        inner = next;
      }
    }
  }
  return moved;
}

}  // namespace

std::int64_t loop_invariant_code_motion(RuleContext& context) {
  std::int64_t moved = hoist_in(context.model().graph);
  for (const onnx::Function& function : context.model().functions)
    if (function.body != nullptr) moved += hoist_in(function.body);
  return moved;
}

}  // namespace sardonyx::passes

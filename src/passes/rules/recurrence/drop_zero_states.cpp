// Before: y = LSTM(x, w, r, b, , Expand(0, shape), Expand(0, shape))
// After:  y = LSTM(x, w, r, b)
// A recurrence that is given no state begins with zeros, as most do.
#include <algorithm>

#include "passes/rules/recurrence/rules.h"
#include "passes/splat.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// Larger tensors are weights that somebody has trained.
constexpr std::int64_t kMaxLookedAt = std::int64_t{1} << 20;

bool is_zero(const onnx::Tensor& tensor) {
  if (tensor.missing || tensor.element_count() > kMaxLookedAt) return false;
  const auto numbers = tensor.reals();
  return numbers && std::ranges::all_of(*numbers, [](double each) { return each == 0; });
}

// Whether every element is 0, whatever the shape.
bool is_zero(const ValueInfo* value) {
  if (value->constant != nullptr) return is_zero(*value->constant);
  const Node* node = value->producer;
  if (node == nullptr || !node->domain.empty()) return false;
  switch (node->op) {
    case Op::kConstantOfShape: {
      const auto element = filling_of(node);
      return element != nullptr && is_zero(*element);
    }
    case Op::kCast:
    case Op::kExpand:
    case Op::kGather:
    case Op::kIdentity:
    case Op::kReshape:
    case Op::kSlice:
    case Op::kSplit:
    case Op::kSqueeze:
    case Op::kTile:
    case Op::kTranspose:
    case Op::kUnsqueeze:
      return is_zero(node->input(0));
    case Op::kConcat:
      return std::ranges::all_of(node->inputs, [](const ValueInfo* each) { return is_zero(each); });
    default:
      return false;
  }
}

bool drop(Node* node, RuleContext& context) {
  bool found = false;
  Patch patch(context, node);
  for (const std::size_t state : {5U, 6U}) {  // of the hidden state and of the cells
    if (node->input(state) == nullptr || !is_zero(node->input(state))) continue;
    patch.set_input(node, state, nullptr);
    found = true;
  }
  return found && patch.apply();
}

constexpr Op kRoots[] = {Op::kGRU, Op::kLSTM, Op::kRNN};

}  // namespace

const Rule kDropZeroStates = {"drop-zero-states", kRoots, drop, 7};

}  // namespace sardonyx::passes

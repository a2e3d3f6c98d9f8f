// Before: y = Identity(x); z = Relu(y)
// After:  z = Relu(x)
// So, too, Dropout that drops nothing and Cast to the type there is. An Identity stays where it
// gives a graph output its name and nothing else can.
#include "passes/rules/identities/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool is_false(const ValueInfo* flag) {
  if (flag == nullptr) return true;
  if (flag->constant == nullptr) return false;
  const auto values = flag->constant->ints();
  return values && values->size() == 1 && values->front() == 0;
}

bool drops_nothing(const Node* node) {
  const ValueInfo* mask = node->output(1);
  return is_false(node->input(2)) && (mask == nullptr || !onnx::has_uses(mask));
}

bool same_type(const Node* node) {
  const ValueInfo* x = node->input(0);
  return x->dtype != DType::kUndefined && !x->is_complex &&
         node->int_or("to", 0) == static_cast<int>(x->dtype);
}

bool changes_nothing(const Node* node) {
  if (node->input(0) == nullptr || node->output() == nullptr) return false;
  if (node->is(Op::kIdentity)) return true;
  return node->is(Op::kDropout) ? drops_nothing(node) : same_type(node);
}

bool drop(Node* node, RuleContext& context) {
  if (!changes_nothing(node)) return false;
  Patch patch(context, node);
  patch.replace(node->output(), node->input(0));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kIdentity, Op::kDropout, Op::kCast};

}  // namespace

// Before opset 7 Dropout had an attribute that says whether it is at work.
const Rule kDropIdentity = {"drop-identity", kRoots, drop, 7};

}  // namespace sardonyx::passes

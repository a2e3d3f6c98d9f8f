// Before: y = Identity(x); z = Relu(y)
// After:  z = Relu(x)
// So, too, Dropout that drops nothing and Cast to the type there is. An Identity stays where it
// gives a graph output its name and nothing else can.
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Node;
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
  if (node->is("Identity")) return true;
  if (node->is("Dropout")) return drops_nothing(node);
  return node->is("Cast") && same_type(node);
}

}  // namespace

bool drop_identity(onnx::Model& model) {
  // Before opset 7 Dropout had an attribute that says whether it is at work.
  if (opset_of(model) < 7) return false;
  return each_node(model.graph, [](Node* node) {
    return changes_nothing(node) && replace(node->output(), node->input(0));
  });
}

}  // namespace sardonyx::passes

// Before: n = Gather(Shape(x), 0); t = Concat(Unsqueeze(n, 0), [12], [-1]); y = Reshape(x, t)
// After:  y = Reshape(x, [0, 12, -1])
// Other people's models are emitted anew, node by node, as translators emit: equal nodes become
// one, what does nothing or is constant goes, and sizes that inference has found are read off in
// the simplest way there is.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "onnx/emit/rebuild.h"
#include "onnx/gen/op.h"
#include "onnx/infer/infer.h"
#include "onnx/infer/merge_types.h"
#include "onnx/operators/operator.h"
#include "passes/passes.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Value;
using onnx::ValueInfo;
using onnx::Values;

class Emitting : public onnx::Emit {
 public:
  explicit Emitting(onnx::Model& model) : Emit(model, onnx::newest_opset(), {}) {}
};

bool all_known(std::span<const symbolic::Expr> exprs) {
  return std::ranges::all_of(exprs, &symbolic::Expr::known);
}

// Its body, or a function's attribute, would have to be emitted with it.
bool holds_more_than_values(const Node* node) {
  return std::ranges::any_of(node->attributes, [](const onnx::Attribute& attribute) {
    return std::holds_alternative<onnx::Graph*>(attribute.data) ||
           std::holds_alternative<std::vector<onnx::Graph*>>(attribute.data) ||
           std::holds_alternative<onnx::Opaque>(attribute.data) || !attribute.reference.empty() ||
           !attribute.carried.empty();
  });
}

bool stays(const Node* node) {
  if (node->op == onnx::kUnknownOp || node->inputs.empty() || node->outputs.empty() ||
      !node->carried.empty() || onnx::operator_of(node->op).random || holds_more_than_values(node))
    return true;
  // The emitter knows types of tensors alone.
  const auto not_known = [](const ValueInfo* value) {
    return value && (value->is_disputed || value->type_kind != onnx::TypeKind::kTensor);
  };
  return std::ranges::any_of(node->inputs, not_known) ||
         std::ranges::any_of(node->outputs, [&](const ValueInfo* output) {
           return output == nullptr || not_known(output);
         });
}

bool is_sizes(const onnx::Emit& onnx, const ValueInfo* value) {
  return value->dtype == onnx::DType::kInt64 && value->has_rank && value->shape.size() <= 1 &&
         !value->contents.empty() && all_known(value->contents) &&
         std::ranges::all_of(value->contents,
                             [&](symbolic::Expr size) { return onnx.can_size(size); });
}

// What stands before it is simpler by now, and may tell more of its type.
void infer_again(onnx::Emit& onnx, Node* node) {
  std::vector<onnx::Type> before;
  std::vector<std::vector<symbolic::Expr>> contents;
  for (ValueInfo* output : node->outputs) {
    before.push_back(type_of(*output));
    contents.push_back(std::move(output->contents));
    set_type(*output, {});
    output->contents.clear();
  }
  bool accepted = true;
  try {
    onnx::infer(node, onnx.pool(), onnx::newest_opset());
  } catch (const base::Error&) {
    accepted = false;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    ValueInfo* const output = node->outputs[i];
    std::string contradiction;
    onnx::Type type = merged(before[i], type_of(*output), contradiction);
    // What the graph hands out keeps what is declared of it.
    const bool agreed = accepted && contradiction.empty() && output->returns.empty();
    set_type(*output, agreed ? std::move(type) : std::move(before[i]));
    if (!agreed || output->contents.empty()) output->contents = std::move(contents[i]);
  }
}

// A constant shape in which 0 says what stays, as rules write it: nothing is simpler.
bool copies_sizes(Value shape) {
  const auto sizes = shape.ints();
  return sizes && std::ranges::count(*sizes, 0) > 0 && std::ranges::count(*sizes, -1) == 0;
}

Values emitted(onnx::Emit& onnx, Node* node, std::span<const Value> inputs) {
  infer_again(onnx, node);
  const ValueInfo* y = node->output();
  // Nodes that are equal but for a copy of a weight are equal.
  if (node->is(Op::kIdentity) && inputs[0].is_constant()) return {inputs[0]};
  if (is_sizes(onnx, y))
    return {y->shape.empty() ? onnx.size(y->contents.front()) : onnx.sizes(y->contents)};
  const bool has_shape =
      y->has_rank && all_known(y->shape) &&
      std::ranges::all_of(y->shape, [&](symbolic::Expr dim) { return onnx.can_size(dim); });
  if (has_shape && node->is(Op::kExpand)) return {onnx.expand(inputs[0], y->shape)};
  if (has_shape && node->is(Op::kReshape) && !copies_sizes(inputs[1]))
    return {onnx.reshape(inputs[0], y->shape)};
  return onnx.node({}, node->op_type, inputs, node->attributes, node->outputs.size());
}

}  // namespace

bool canonicalize(onnx::Model& model) {
  if (onnx::opset_of(model.graph) != onnx::newest_opset()) return false;
  Emitting onnx(model);
  return onnx::rebuild(
      model, onnx,
      {.keeps = stays,
       .rebuilt = [&](Node* node,
                      std::span<const Value> inputs) { return emitted(onnx, node, inputs); },
       // What the emitter does not take, somebody's runtime may.
       .failed = [](const Node*, const base::Error&) {}});
}

}  // namespace sardonyx::passes

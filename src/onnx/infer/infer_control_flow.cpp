// If, Loop and Scan: types come from their bodies.
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

Graph* body_of(const Inference& node, std::string_view name) {
  const Attribute* found = node.node().find(name);
  const auto* body = found == nullptr ? nullptr : std::get_if<Graph*>(&found->data);
  if (body == nullptr || *body == nullptr) node.fail("a body is missing");
  return *body;
}

// The type of body outputs a and b, which the same output has in turn.
void set_common(Inference& node, std::size_t i, const ValueInfo& a, const ValueInfo& b) {
  node.set_dtype(i, a.dtype);
  if (ValueInfo* output = node.node().output(i)) output->type_kind = a.type_kind;
  if (!a.has_rank || !b.has_rank || a.shape.size() != b.shape.size()) return;
  Shape shape;
  for (std::size_t d = 0; d < a.shape.size(); ++d)
    shape.push_back(common_dim(a.shape[d], b.shape[d]));
  node.set_shape(i, std::move(shape));
}

// A dim that the body makes of its own inputs means nothing outside; a constant one does.
Shape constant_dims(const Shape& shape) {
  Shape kept;
  for (const Expr dim : shape) kept.push_back(dim.is_constant() ? dim : Expr());
  return kept;
}

void if_(Inference& node) {
  const Graph* then_branch = body_of(node, "then_branch");
  const Graph* else_branch = body_of(node, "else_branch");
  if (then_branch->outputs.size() != node.outputs() ||
      else_branch->outputs.size() != node.outputs())
    node.fail("the branches do not have as many outputs as the node");
  for (std::size_t i = 0; i < node.outputs(); ++i) {
    if (then_branch->outputs[i]->dtype != else_branch->outputs[i]->dtype)
      node.fail("the branches give different types");
    set_common(node, i, *then_branch->outputs[i], *else_branch->outputs[i]);
  }
}

void loop(Inference& node) {
  const Graph* body = body_of(node, "body");
  const std::size_t carried = node.inputs() < 2 ? 0 : node.inputs() - 2;
  if (body->outputs.size() != node.outputs() + 1)
    node.fail("the body does not have one output more than the node");
  if (body->inputs.size() != carried + 2)
    node.fail("the body does not take a number, a condition and what the loop carries");
  for (std::size_t i = 0; i < node.outputs(); ++i) {
    const ValueInfo& made = *body->outputs[i + 1];
    if (i < carried) {
      set_common(node, i, made, *body->inputs[i + 2]);
      continue;
    }
    node.set_dtype(i, made.dtype);
    if (!made.has_rank) continue;
    Shape stacked = constant_dims(made.shape);
    stacked.insert(stacked.begin(), Expr());
    node.set_shape(i, std::move(stacked));
  }
}

void scan(Inference& node) {
  const Graph* body = body_of(node, "body");
  const auto scanned = static_cast<std::size_t>(node.integer("num_scan_inputs", 0));
  if (scanned > node.inputs() || scanned == 0) node.fail("num_scan_inputs does not fit");
  const std::size_t states = node.inputs() - scanned;
  if (body->outputs.size() != node.outputs() || body->inputs.size() != node.inputs())
    node.fail("the body does not have the node's inputs and outputs");
  const auto entry = [&](std::string_view name, std::size_t at) {
    const auto* list = node.list(name);
    return list == nullptr || at >= list->size() ? 0 : (*list)[at];
  };
  Expr length;
  if (node.has_rank(states))
    length = node.shape(states)[node.axis(entry("scan_input_axes", 0), node.rank(states))];
  for (std::size_t i = 0; i < node.outputs(); ++i) {
    const ValueInfo& made = *body->outputs[i];
    if (i < states) {
      set_common(node, i, made, *body->inputs[i]);
      continue;
    }
    node.set_dtype(i, made.dtype);
    if (!made.has_rank) continue;
    Shape stacked = constant_dims(made.shape);
    const auto rank = static_cast<std::int64_t>(stacked.size()) + 1;
    const std::size_t axis = node.axis(entry("scan_output_axes", i - states), rank);
    stacked.insert(stacked.begin() + static_cast<std::ptrdiff_t>(axis), length);
    node.set_shape(i, std::move(stacked));
  }
}

// --- sequences: dtype is that of the tensors

void sequence(Inference& node, DType dtype) {
  ValueInfo* output = node.node().output();
  output->type_kind = TypeKind::kSequence;
  output->dtype = dtype;
}

void sequence_of_inputs(Inference& node) { sequence(node, node.dtype(0)); }

void sequence_empty(Inference& node) {
  sequence(node, static_cast<DType>(node.integer("dtype", 1)));
}

void element(Inference& node) { node.set_dtype(0, node.dtype(0)); }

void joined(Inference& node) { node.set_dtype(0, node.dtype(0)); }

void scalar(Inference& node) { node.set_shape(0, {}); }

constexpr InferenceRule kRules[] = {
    {Op::kIf, if_},
    {Op::kLoop, loop},
    {Op::kScan, scan},
    {Op::kSequenceConstruct, sequence_of_inputs},
    {Op::kSequenceInsert, sequence_of_inputs},
    {Op::kSequenceErase, sequence_of_inputs},
    {Op::kSplitToSequence, sequence_of_inputs},
    {Op::kSequenceEmpty, sequence_empty},
    {Op::kSequenceAt, element},
    {Op::kConcatFromSequence, joined},
    {Op::kSequenceLength, scalar},
    {Op::kOptionalHasElement, scalar},
};

}  // namespace

std::span<const InferenceRule> control_flow_rules() { return kRules; }

}  // namespace sardonyx::onnx

// Branches and loops: cond and while_loop, to If and Loop.
#include "aten/control_flow/body_operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using onnx::Values;

onnx::Graph* branch(const Call& call, Emit& onnx, std::string_view name, const Values& inputs) {
  const program::Graph& graph = call.graph(name);
  onnx::Graph* body = onnx.begin_body(graph.name);
  onnx.end_body(call.bodies().emit_body(graph, inputs));
  return body;
}

Value as_truth(Emit& onnx, Value x) { return onnx.reshape(onnx.cast(x, DType::kBool), Shape{}); }

Outputs cond(const Call& call, Emit& onnx) {
  // An If has an output; branches that give nothing do nothing.
  if (call.graph("true_graph").outputs.empty()) return {};
  const Value predicate = body_operand(call, onnx, call.argument("pred"));
  const Values inputs = body_operands(call, onnx, "operands");
  onnx::Graph* then_branch = branch(call, onnx, "true_graph", inputs);
  onnx::Graph* else_branch = branch(call, onnx, "false_graph", inputs);
  return with_complex_marked(call, onnx.if_(as_truth(onnx, predicate), then_branch, else_branch));
}

// The condition is asked before the first iteration and at the end of each.
Outputs while_loop(const Call& call, Emit& onnx) {
  const program::Graph& condition = call.graph("cond_graph");
  const program::Graph& step = call.graph("body_graph");
  const Values initial = body_operands(call, onnx, "carried_inputs");
  const Values further = body_operands(call, onnx, "additional_inputs");
  const Value first =
      as_truth(onnx, call.bodies().emit_body(condition, joined(initial, further)).front());

  onnx::Graph* body = onnx.begin_body(step.name);
  onnx.body_input("iteration", DType::kInt64, {});
  onnx.body_input("condition", DType::kBool, {});
  const Values carried = carried_inputs(onnx, step, initial);
  const Values results = call.bodies().emit_body(step, joined(carried, further));
  const Values next = as_carried(onnx, results, initial);
  const Value again =
      as_truth(onnx, call.bodies().emit_body(condition, joined(next, further)).front());
  onnx.end_body(joined({again}, next));
  return with_complex_marked(call, onnx.loop({}, first, initial, body));
}

constexpr Row kRows[] = {
    {"higher_order::cond(Any pred, Any true_graph, Any false_graph, Any operands=[]) -> Any", cond},
    {"higher_order::while_loop(Any cond_graph, Any body_graph, Any carried_inputs, Any "
     "additional_inputs=[]) -> Any",
     while_loop},
};

}  // namespace

std::span<const Row> control_flow_rows() { return kRows; }

}  // namespace sardonyx::aten

// Branches and loops: cond and while_loop, to If and Loop.
#include "aten/control_flow/body_operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using onnx::Values;

onnx::Graph* branch(const Call& call, Emit& onnx, const program::Graph& graph,
                    const Values& inputs) {
  onnx::Graph* body = onnx.begin_body(graph.name);
  onnx.end_body(call.bodies().emit_body(graph, inputs));
  return body;
}

Value as_truth(Emit& onnx, Value x) { return onnx.reshape(onnx.cast(x, DType::kBool), Shape{}); }

Outputs cond(const Call& call, Emit& onnx) {
  const program::Region region = region_of(call);
  // An If has an output; branches that give nothing do nothing.
  if (region.bodies[0]->outputs.empty()) return {};
  const Value predicate = body_operand(call, onnx, call.argument("pred"));
  const Values inputs = body_operands(call, onnx, region.given);
  onnx::Graph* then_branch = branch(call, onnx, *region.bodies[0], inputs);
  onnx::Graph* else_branch = branch(call, onnx, *region.bodies[1], inputs);
  return with_complex_marked(call, onnx.if_(as_truth(onnx, predicate), then_branch, else_branch));
}

// The condition is asked before the first iteration and at the end of each.
Outputs while_loop(const Call& call, Emit& onnx) {
  const program::Region region = region_of(call);
  const program::Graph& condition = *region.bodies[0];
  const program::Graph& step = *region.bodies[1];
  const Values initial = body_operands(call, onnx, region.carried);
  const Values further = body_operands(call, onnx, region.given);
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

// A number of runs at most, as long as the body says so. What the body gives beyond what is carried
// is stacked, one slice a run.
Outputs loop(const Call& call, Emit& onnx) {
  const program::Region region = region_of(call);
  const program::Graph& step = *region.bodies.front();
  if (step.outputs.size() == 1) return {};  // it says whether to go on, and nothing else
  const Values initial = body_operands(call, onnx, region.carried);
  const Values further = body_operands(call, onnx, region.given);
  const bool counts = !call.argument("count").is_none();
  const Value count = counts ? body_operand(call, onnx, call.argument("count")) : Value();
  const Value first = as_truth(onnx, body_operand(call, onnx, call.argument("condition")));

  onnx::Graph* body = onnx.begin_body(step.name);
  const Value iteration = onnx.body_input("iteration", DType::kInt64, {});
  onnx.body_input("condition", DType::kBool, {});
  const Values carried = carried_inputs(onnx, step, initial, 1);
  Values results = call.bodies().emit_body(step, joined(joined({iteration}, carried), further));
  const Value again = as_truth(onnx, results.front());
  results.erase(results.begin());
  Values next = as_carried(onnx, results, initial);
  next.insert(next.end(), results.begin() + static_cast<std::ptrdiff_t>(initial.size()),
              results.end());
  onnx.end_body(joined({again}, next));
  return with_complex_marked(call, onnx.loop(count, first, initial, body));
}

constexpr Row kRows[] = {
    {"higher_order::cond(Any pred, Any true_graph, Any false_graph, Any operands=[]) -> Any", cond},
    {"higher_order::loop(Any body_graph, Any count, Any condition, Any carried_inputs, Any "
     "additional_inputs=[]) -> Any",
     loop},
    {"higher_order::while_loop(Any cond_graph, Any body_graph, Any carried_inputs, Any "
     "additional_inputs=[]) -> Any",
     while_loop},
};

}  // namespace

std::span<const Row> control_flow_rows() { return kRows; }

}  // namespace sardonyx::aten

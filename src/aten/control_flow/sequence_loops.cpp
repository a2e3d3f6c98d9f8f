// Loops over the slices of tensors: scan, map and associative_scan, to Scan.
#include "aten/control_flow/body_operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using onnx::Values;

// Carries the first results of the body on and stacks the others. Scan slices axis 0, which is
// where the capture has moved the axis and turned it round for a scan in reverse.
Outputs over_slices(const Call& call, Emit& onnx, const program::Graph& step, const Values& initial,
                    const Values& xs, const Values& further) {
  if (xs.empty()) call.refuse("a loop over no tensors");
  onnx::Graph* body = onnx.begin_body(step.name);
  const Values states = carried_inputs(onnx, step, initial);
  const Values slices = carried_inputs(onnx, step, xs, initial.size());
  const Values results = call.bodies().emit_body(step, joined(joined(states, slices), further));
  Values outputs = as_carried(onnx, results, initial);
  for (std::size_t i = initial.size(); i < results.size(); ++i) outputs.push_back(results[i]);
  if (outputs.empty()) call.refuse("a loop that gives nothing");
  onnx.end_body(outputs);
  return with_complex_marked(call, onnx.scan(initial, xs, body));
}

Outputs scan(const Call& call, Emit& onnx) {
  return over_slices(call, onnx, call.graph("combine_graph"), body_operands(call, onnx, "init"),
                     body_operands(call, onnx, "xs"),
                     body_operands(call, onnx, "additional_inputs"));
}

Outputs map(const Call& call, Emit& onnx) {
  return over_slices(call, onnx, call.graph("body_graph"), {}, body_operands(call, onnx, "xs"),
                     body_operands(call, onnx, "additional_inputs"));
}

// combine(a, b) is a + b and nothing else.
bool adds(const program::Graph& combine) {
  if (combine.calls.size() != 1 || combine.inputs.size() != 2 || combine.outputs.size() != 1)
    return false;
  const program::Call& only = *combine.calls.front();
  if (only.schema->qualified() != "aten::add.Tensor") return false;
  const Expr* alpha = only.argument("alpha").get<Expr>();
  const auto is = [](const program::Argument& argument, const program::Value* value) {
    program::Value* const* found = argument.get<program::Value*>();
    return found && *found == value;
  };
  return alpha && alpha->is(1) && is(only.argument("self"), combine.inputs[0]) &&
         is(only.argument("other"), combine.inputs[1]) &&
         is(combine.outputs[0], only.outputs.front());
}

// y[0] = x[0], y[t] = combine(y[t - 1], x[t]); any order of combining gives the same.
Outputs associative_scan(const Call& call, Emit& onnx) {
  const program::Graph& combine = call.graph("combine_fn");
  const Values xs = body_operands(call, onnx, "xs");
  const Values further = body_operands(call, onnx, "additional_inputs");
  if (xs.empty()) call.refuse("a loop over no tensors");
  if (further.empty() && adds(combine) && !xs[0].is_complex())
    return {onnx.cumsum(xs[0], onnx.int_scalar(0))};

  Values firsts, starts, rests;
  for (const Value x : xs) {
    const Expr length = x.dim(0);
    firsts.push_back(onnx.slice(x, 0, 0, 1));
    starts.push_back(onnx.squeeze(firsts.back(), {0}));
    rests.push_back(onnx.slice(x, 0, 1, length));
  }
  onnx::Graph* body = onnx.begin_body(combine.name);
  const Values states = carried_inputs(onnx, combine, starts);
  const Values slices = carried_inputs(onnx, combine, rests, starts.size());
  const Values results = call.bodies().emit_body(combine, joined(joined(states, slices), further));
  const Values next = as_carried(onnx, results, starts);
  onnx.end_body(joined(next, next));
  const Values made = onnx.scan(starts, rests, body);
  Values outputs;
  for (std::size_t i = 0; i < xs.size(); ++i)
    outputs.push_back(onnx.concat({firsts[i], made[xs.size() + i]}, 0));
  return with_complex_marked(call, std::move(outputs));
}

constexpr Row kRows[] = {
    {"higher_order::associative_scan(Any combine_fn, Any xs, Any additional_inputs=[]) -> Any",
     associative_scan},
    {"higher_order::map_impl(Any body_graph, Any xs, Any additional_inputs=[]) -> Any", map},
    {"higher_order::scan(Any combine_graph, Any init, Any xs, Any additional_inputs=[]) -> Any",
     scan},
};

}  // namespace

std::span<const Row> sequence_loops_rows() { return kRows; }

}  // namespace sardonyx::aten

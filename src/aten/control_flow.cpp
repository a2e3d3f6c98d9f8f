// Branches and loops: cond, while_loop, scan and map, to If and Loop.
#include "aten/body.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using onnx::Values;

// One operand of a body: a tensor, or a symbolic scalar as a 0-d one.
Value operand(const Call& call, Emit& onnx, const program::Argument& argument) {
  if (program::Value* const* value = argument.get<program::Value*>()) {
    const auto found = call.environment().find(*value);
    if (found != call.environment().end()) return found->second;
    if ((*value)->expr.known()) return onnx.size((*value)->expr);
  }
  if (const Expr* expr = argument.get<Expr>()) {
    if (expr->is_boolean()) return onnx.condition(*expr);
    return expr->is_float() ? onnx.real_size(*expr, DType::kFloat64) : onnx.size(*expr);
  }
  if (const bool* flag = argument.get<bool>()) return onnx.bool_scalar(*flag);
  if (const double* real = argument.get<double>()) return onnx.scalar(*real, DType::kFloat64);
  call.refuse("an operand of the body is neither a tensor nor a number");
}

Values operands(const Call& call, Emit& onnx, std::string_view name) {
  Values values;
  const program::Argument& whole = call.argument(name);
  if (const program::List* list = whole.get<program::List>()) {
    for (const program::Argument& item : *list) values.push_back(operand(call, onnx, item));
  }
  return values;
}

Values joined(Values first, const Values& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

onnx::Graph* branch(const Call& call, Emit& onnx, std::string_view name, const Values& inputs) {
  const program::Graph& graph = call.graph(name);
  onnx::Graph* body = onnx.begin_body(graph.name);
  onnx.end_body(call.bodies().emit_body(graph, inputs));
  return body;
}

Outputs cond(const Call& call, Emit& onnx) {
  const Value predicate = operand(call, onnx, call.argument("pred"));
  const Values inputs = operands(call, onnx, "operands");
  onnx::Graph* then_branch = branch(call, onnx, "true_graph", inputs);
  onnx::Graph* else_branch = branch(call, onnx, "false_graph", inputs);
  const Value truth = onnx.reshape(onnx.cast(predicate, DType::kBool), Shape{});
  return onnx.if_(truth, then_branch, else_branch);
}

// The inputs of a Loop's body that stand for what is carried, typed as the captured body's.
Values carried_inputs(Emit& onnx, const program::Graph& graph, const Values& initial) {
  Values inputs;
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const program::Value* captured = graph.inputs[i];
    const bool tensor = captured != nullptr && captured->kind == program::ValueKind::kTensor;
    inputs.push_back(onnx.body_input(captured != nullptr ? captured->name : "carried",
                                     initial[i].dtype(), tensor ? captured->shape : Shape{}));
  }
  return inputs;
}

// Carried values keep their type from one iteration to the next.
Values as_carried(Emit& onnx, const Values& results, const Values& initial) {
  Values outputs;
  for (std::size_t i = 0; i < initial.size(); ++i) {
    outputs.push_back(onnx.cast(results[i], initial[i].dtype()));
  }
  return outputs;
}

Value as_truth(Emit& onnx, Value x) { return onnx.reshape(onnx.cast(x, DType::kBool), Shape{}); }

// The condition is asked before the first iteration and at the end of each.
Outputs while_loop(const Call& call, Emit& onnx) {
  const program::Graph& condition = call.graph("cond_graph");
  const program::Graph& step = call.graph("body_graph");
  const Values initial = operands(call, onnx, "carried_inputs");
  const Values further = operands(call, onnx, "additional_inputs");
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
  return onnx.loop({}, first, initial, body);
}

// A Loop over the first axis of xs: carries the first results on and stacks the others.
Outputs over_slices(const Call& call, Emit& onnx, const program::Graph& step, const Values& initial,
                    const Values& xs, const Values& further) {
  if (xs.empty()) call.refuse("a loop over no tensors");
  onnx::Graph* body = onnx.begin_body(step.name);
  const Value iteration = onnx.body_input("iteration", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  Values inputs = carried_inputs(onnx, step, initial);
  for (const Value x : xs) inputs.push_back(onnx.gather(x, iteration, {.axis = 0}));
  const Values results = call.bodies().emit_body(step, joined(inputs, further));
  Values outputs = joined({onnx.identity(condition)}, as_carried(onnx, results, initial));
  for (std::size_t i = initial.size(); i < results.size(); ++i) outputs.push_back(results[i]);
  onnx.end_body(outputs);
  return onnx.loop(onnx.size(xs.front().dim(0)), onnx.bool_scalar(true), initial, body);
}

Outputs scan(const Call& call, Emit& onnx) {
  return over_slices(call, onnx, call.graph("combine_graph"), operands(call, onnx, "init"),
                     operands(call, onnx, "xs"), operands(call, onnx, "additional_inputs"));
}

Outputs map(const Call& call, Emit& onnx) {
  return over_slices(call, onnx, call.graph("body_graph"), {}, operands(call, onnx, "xs"),
                     operands(call, onnx, "additional_inputs"));
}

constexpr Row kRows[] = {
    {"higher_order::cond(Any pred, Any true_graph, Any false_graph, Any operands=[]) -> Any", 13,
     cond},
    {"higher_order::map_impl(Any body_graph, Any xs, Any additional_inputs=[]) -> Any", 13, map},
    {"higher_order::scan(Any combine_graph, Any init, Any xs, Any additional_inputs=[]) -> Any", 13,
     scan},
    {"higher_order::while_loop(Any cond_graph, Any body_graph, Any carried_inputs, Any "
     "additional_inputs=[]) -> Any",
     13, while_loop},
};

}  // namespace

std::span<const Row> control_flow_rows() { return kRows; }

}  // namespace sardonyx::aten

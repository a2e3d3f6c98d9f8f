#include "aten/control_flow/body_operands.h"

namespace sardonyx::aten {

using onnx::Values;

Value body_operand(const Call& call, Emit& onnx, const program::Argument& argument) {
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

program::Region region_of(const Call& call) {
  const auto region = program::region_of(call.captured());
  if (!region || region->kind->runs == program::Runs::kUnknown)
    base::fail("SX1204", "an argument that has to be a body is none");
  return *region;
}

Values body_operands(const Call& call, Emit& onnx, const program::List* list) {
  Values values;
  if (!list) return values;
  for (const program::Argument& item : *list) values.push_back(body_operand(call, onnx, item));
  return values;
}

Values joined(Values first, const Values& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

namespace {

// Its elements may be of any size.
Value list_input(Emit& onnx, const std::string& name, Value initial) {
  const Value input = onnx.body_input(name, initial.dtype(), {});
  input->type_kind = initial->type_kind;
  input->has_rank = false;
  return input;
}

}  // namespace

Values carried_inputs(Emit& onnx, const program::Graph& graph, const Values& initial,
                      std::size_t first) {
  Values inputs;
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const program::Value* captured =
        first + i < graph.inputs.size() ? graph.inputs[first + i] : nullptr;
    if (captured != nullptr && captured->kind == program::ValueKind::kList) {
      inputs.push_back(list_input(onnx, captured->name, initial[i]));
      continue;
    }
    const bool tensor = captured != nullptr && captured->kind == program::ValueKind::kTensor;
    Shape shape = tensor ? captured->shape : Shape{};
    if (initial[i].is_complex()) shape.emplace_back(2);
    const Value input = onnx.body_input(captured != nullptr ? captured->name : "carried",
                                        initial[i].dtype(), shape);
    input->is_complex = initial[i].is_complex();
    inputs.push_back(input);
  }
  return inputs;
}

Values as_carried(Emit& onnx, const Values& results, const Values& initial) {
  Values outputs;
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const bool is_list = initial[i]->type_kind != onnx::TypeKind::kTensor;
    outputs.push_back(is_list ? results[i] : onnx.cast(results[i], initial[i].dtype()));
  }
  return outputs;
}

Outputs with_complex_marked(const Call& call, Outputs outputs) {
  for (std::size_t i = 0; i < outputs.size() && i < call.output_count(); ++i) {
    if (call.uses_output(i) && outputs[i]->type_kind == onnx::TypeKind::kTensor &&
        base::is_complex(call.result_dtype(i)))
      outputs[i]->is_complex = true;
  }
  return outputs;
}

}  // namespace sardonyx::aten

// The outputs of the model.
#include <unordered_set>
#include <utility>

#include "aten/translation/translation.h"
#include "program/ir/naming.h"

namespace sardonyx::aten {

// A captured output as a value: symbolic scalars and numbers become 0-d tensors; None and strings
// are absent, as in PyTorch's exporters.
Value Translation::output_value(const program::Argument& argument) {
  if (program::Value* const* value = argument.get<program::Value*>()) {
    const auto found = environment_.find(*value);
    if (found != environment_.end()) return found->second;
    if (*value && (*value)->expr.known()) return output_value((*value)->expr);
    base::fail("SX1204", "an output of the program is defined nowhere");
  }
  if (const Expr* expr = argument.get<Expr>()) {
    if (expr->is_boolean()) return emit_.condition(*expr);
    return expr->is_float() ? emit_.real_size(*expr, DType::kFloat32) : emit_.size(*expr);
  }
  if (const bool* flag = argument.get<bool>()) return emit_.bool_scalar(*flag);
  if (const double* real = argument.get<double>()) return emit_.scalar(*real, DType::kFloat32);
  if (argument.is_none() || argument.get<std::string>()) return {};
  base::fail("SX1204", "an output of the program is neither a tensor nor a number",
             "return tensors, numbers or None");
}

void Translation::add_outputs() {
  const std::vector<std::string> inputs = program::input_names(program_, options_.input_names);
  const std::vector<std::string> names =
      program::output_names(program_, inputs, options_.output_names);
  std::vector<onnx::ValueInfo*> outputs;
  std::vector<std::string> wanted;
  std::unordered_set<const onnx::ValueInfo*> taken, returned;
  for (const auto& [value, name] : shown_) taken.insert(value);
  std::size_t position = 0;
  emit_.set_origin(nullptr, "output");
  for (const program::OutputSpec& spec : program_.outputs) {
    if (spec.kind == program::OutputKind::kToken) continue;
    const std::string& name = names.at(position++);
    const bool mutation = spec.kind == program::OutputKind::kBufferMutation ||
                          spec.kind == program::OutputKind::kInputMutation;
    if (mutation && !options_.mutated_buffers_as_outputs) continue;
    Value value = output_value(spec.value);
    if (!value) continue;
    // What the model returns of a changed input is its new content already.
    if (spec.kind == program::OutputKind::kInputMutation && returned.contains(value.info()))
      continue;
    if (!mutation) returned.insert(value.info());
    // Every output is a value of its own: not an input, not a constant, not an output already.
    if (!value->producer || !taken.insert(value.info()).second) {
      value = emit_.identity(value);
      taken.insert(value.info());
    }
    outputs.push_back(value.info());
    wanted.push_back(name);
  }
  if (options_.assertions_as_outputs) add_assertions(outputs, wanted);
  add_shown(outputs, wanted);
  if (outputs.empty()) {
    base::fail("SX1204",
               "the program returns no tensor and no number, so that a model would compute "
               "nothing",
               "return what the model is to give");
  }
  onnx::set_outputs(model_->graph, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]->name != wanted[i]) model_->rename(outputs[i], wanted[i]);
  }
}

}  // namespace sardonyx::aten

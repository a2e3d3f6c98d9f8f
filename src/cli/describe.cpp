#include "cli/describe.h"

#include <vector>

#include "program/ir/naming.h"
#include "program/text/summary.h"
#include "sardonyx/report.h"

namespace sardonyx::cli {
namespace {

std::string size_json(symbolic::Expr size) {
  if (!size.known()) return "null";
  return size.is_constant() ? size.str() : json_string(size.str());
}

std::string value_json(const std::string& name, const program::Value& value) {
  std::string text = "{\"name\": " + json_string(name);
  if (value.kind == program::ValueKind::kTensor) {
    text += ", \"dtype\": " + json_string(base::dtype_name(value.dtype)) + ", \"shape\": [";
    for (const symbolic::Expr& size : value.shape) {
      if (&size != value.shape.data()) text += ", ";
      text += size_json(size);
    }
    return text + "]}";
  }
  return text + ", \"type\": " + json_string(program::type_text(value)) + "}";
}

std::string joined(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) text += (text.size() > 1 ? ", " : "") + item;
  return text + "]";
}

std::string inputs_json(const program::Program& program) {
  const std::vector<std::string> names = program::input_names(program, {});
  std::vector<std::string> items;
  std::size_t next = 0;
  for (const program::InputSpec& input : program.inputs) {
    if (input.kind != program::InputKind::kUser) continue;
    const std::string& name = names[next++];
    if (input.value) items.push_back(value_json(name, *input.value));
  }
  return joined(items);
}

std::string output_json(const std::string& name, const program::Argument& value) {
  if (program::Value* const* held = value.get<program::Value*>()) return value_json(name, **held);
  std::string text = "{\"name\": " + json_string(name);
  if (const symbolic::Expr* size = value.get<symbolic::Expr>())
    text += ", \"value\": " + size_json(*size);
  return text + "}";
}

std::string outputs_json(const program::Program& program) {
  const std::vector<std::string> names = program::output_names(program, {});
  std::vector<std::string> items;
  std::size_t next = 0;
  for (const program::OutputSpec& output : program.outputs) {
    if (output.kind == program::OutputKind::kToken) continue;
    const std::string& name = names[next++];
    if (!output.value.is_none()) items.push_back(output_json(name, output.value));
  }
  return joined(items);
}

}  // namespace

std::string program_json(const program::Program& program) {
  const program::Summary summary = program::summarize(program);
  std::vector<std::string> operators;
  for (const program::OperatorCount& entry : summary.operators) {
    operators.push_back("{\"name\": " + json_string(entry.name) +
                        ", \"count\": " + std::to_string(entry.count) + "}");
  }
  return "{\"torch_version\": " + json_string(program.torch_version) +
         ", \"inputs\": " + inputs_json(program) + ", \"outputs\": " + outputs_json(program) +
         ", \"weights\": {\"count\": " + std::to_string(summary.weights) +
         ", \"elements\": " + std::to_string(summary.weight_elements) +
         ", \"bytes\": " + std::to_string(summary.weight_bytes) +
         "}, \"mutations\": " + std::to_string(summary.mutations) +
         ", \"calls\": " + std::to_string(summary.calls) + ", \"operators\": " + joined(operators) +
         "}";
}

}  // namespace sardonyx::cli

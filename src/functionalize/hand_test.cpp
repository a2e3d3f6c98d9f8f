#include <utility>

#include "functionalize/program_for_test.h"

namespace sardonyx::functionalize::testing {
namespace {

using program::Call;
using program::List;

std::string text_of(const Argument& argument) {
  if (argument.is_none()) return "None";
  if (Value* const* value = argument.get<Value*>()) return (*value)->name;
  if (const auto* expr = argument.get<symbolic::Expr>()) return expr->str();
  if (const auto* flag = argument.get<bool>()) return *flag ? "True" : "False";
  if (const auto* real = argument.get<double>()) return std::to_string(*real);
  if (const auto* dtype = argument.get<base::DType>()) return std::string(base::dtype_name(*dtype));
  if (program::Graph* const* body = argument.get<program::Graph*>())
    return "{" + testing::text_of(**body) + "}";
  const List* list = argument.get<List>();
  if (!list) return "?";
  std::string text = "[";
  for (const Argument& item : *list) text += (text.size() > 1 ? ", " : "") + text_of(item);
  return text + "]";
}

std::string text_of(const Call& call) {
  std::string text;
  for (const Value* output : call.outputs)
    text += (text.empty() ? "" : ", ") + (output ? output->name : "_");
  text += " = " + call.schema->qualified() + "(";
  bool first = true;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const auto& parameter = call.schema->parameters[i];
    const std::string argument = text_of(call.arguments[i]);
    if (parameter.default_value && text_of(*parameter.default_value) == argument) continue;
    if (parameter.default_value && !parameter.type.optional && argument == "None") continue;
    text += (first ? "" : ", ") + argument;
    first = false;
  }
  return text + ")";
}

}  // namespace

Hand::Hand() : graph(program.add_graph()) { program.graph = graph; }

Value* Hand::input(const std::string& name, Shape shape, program::InputKind kind,
                   base::DType dtype) {
  Value* value = program.add_value();
  value->name = name;
  value->dtype = dtype;
  value->shape = std::move(shape);
  value->index = static_cast<std::uint32_t>(graph->inputs.size());
  graph->inputs.push_back(value);
  if (graph == program.graph) program.inputs.push_back({kind, value, name});
  return value;
}

Value* Hand::call(const std::string& op, std::vector<Argument> arguments, const std::string& name,
                  Shape shape, base::DType dtype) {
  Value* value = calls(op, std::move(arguments), {name}, shape).front();
  value->dtype = dtype;
  return value;
}

std::vector<Value*> Hand::calls(const std::string& op, std::vector<Argument> arguments,
                                const std::vector<std::string>& names, const Shape& shape) {
  Call* call = program.add_call();
  call->schema = program::find_schema(op);
  if (!call->schema) base::fail("SX1203", "no schema of " + op);
  call->arguments = program::bind(*call->schema, std::move(arguments), {});
  call->name = names.front();
  call->source = source_;
  for (const std::string& name : names) {
    Value* value = program.add_value();
    value->name = name;
    value->dtype = base::DType::kFloat32;
    value->shape = shape;
    value->producer = call;
    value->index = static_cast<std::uint32_t>(call->outputs.size());
    call->outputs.push_back(value);
  }
  graph->calls.push_back(call);
  return call->outputs;
}

void Hand::output(Value* value) {
  graph->outputs.emplace_back(value);
  if (graph != program.graph) return;
  program::OutputSpec spec;
  spec.value = value;
  program.outputs.push_back(std::move(spec));
}

void Hand::at_line(int line) {
  program::Source source;
  source.stack_trace = "  File \"model.py\", line " + std::to_string(line) + ", in forward";
  source_ = program.intern_source(std::move(source));
}

std::string text_of(const program::Graph& graph) {
  std::string text;
  for (const Call* call : graph.calls) text += text_of(*call) + "\n";
  text += "return";
  for (const Argument& output : graph.outputs) text += " " + text_of(output);
  return text;
}

std::string Hand::text() const {
  std::string text = text_of(*program.graph);
  for (const program::OutputSpec& output : program.outputs) {
    if (output.kind == program::OutputKind::kUser) continue;
    text += "\n" + output.target + " updated";
  }
  return text;
}

}  // namespace sardonyx::functionalize::testing

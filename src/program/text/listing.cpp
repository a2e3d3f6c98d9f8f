// The readable listing of a program: for `sardonyx inspect` and for golden tests.
#include <charconv>
#include <complex>
#include <string>
#include <utility>

#include "program/ir/program.h"
#include "program/schema/coerce.h"
#include "program/text/summary.h"

namespace sardonyx::program {
namespace {

using symbolic::Expr;

std::string number_text(double value) {
  char buffer[40];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, result.ptr);
  const bool integral = text.find_first_not_of("-0123456789") == std::string::npos;
  return integral ? text + ".0" : text;
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  std::string text = "[";
  for (const std::int64_t size : sizes) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

bool lacks_data(const Weight& weight) {
  for (const std::int64_t size : weight.shape) {
    if (size == 0) return false;
  }
  return !weight.storage || !weight.storage->data;
}

std::string expr_text(Expr e) { return e.known() ? e.str() : "?"; }

std::string shape_text(const std::vector<Expr>& shape) {
  std::string text = "[";
  for (const Expr& size : shape) {
    if (&size != shape.data()) text += ", ";
    text += expr_text(size);
  }
  return text + "]";
}

std::string argument_text(const Argument& argument) {
  if (Value* const* value = argument.get<Value*>()) return *value ? "%" + (*value)->name : "%?";
  if (Graph* const* graph = argument.get<Graph*>()) return "@" + (*graph)->name;
  if (const Expr* e = argument.get<Expr>()) return expr_text(*e);
  if (const double* real = argument.get<double>()) return number_text(*real);
  if (const bool* flag = argument.get<bool>()) return *flag ? "True" : "False";
  if (const std::string* text = argument.get<std::string>()) return "'" + *text + "'";
  if (const base::DType* dtype = argument.get<base::DType>())
    return std::string(base::dtype_name(*dtype));
  if (const auto* value = argument.get<std::complex<double>>())
    return "(" + number_text(value->real()) + ", " + number_text(value->imag()) + "j)";
  if (const List* items = argument.get<List>()) {
    std::string text = "[";
    for (const Argument& item : *items) {
      if (text.size() > 1) text += ", ";
      text += argument_text(item);
    }
    return text + "]";
  }
  return describe(argument);
}

bool is_default(const Parameter& parameter, const Argument& argument) {
  if (!parameter.default_value) return argument.is_none();
  const Argument& standard = *parameter.default_value;
  return standard.data.index() == argument.data.index() &&
         argument_text(standard) == argument_text(argument);
}

class Listing {
 public:
  std::string of(const Program& program) {
    header(program);
    inputs(program);
    if (program.graph) {
      text_ += "calls:\n";
      body(*program.graph, 1);
    }
    outputs(program);
    for (const base::Diagnostic& note : program.notes) text_ += note.str() + "\n";
    return std::move(text_);
  }

 private:
  void header(const Program& program) {
    const Summary summary = summarize(program);
    text_ += "program";
    if (!program.torch_version.empty()) text_ += " of PyTorch " + program.torch_version;
    text_ += ": " + std::to_string(summary.calls) + " calls, " + std::to_string(summary.weights) +
             " weights of " + std::to_string(summary.weight_bytes) + " bytes\n";
    text_ += "operators:\n";
    for (const OperatorCount& entry : summary.operators) {
      const std::string count = std::to_string(entry.count);
      text_ += "  " + std::string(count.size() < 4 ? 4 - count.size() : 0, ' ') + count + "  " +
               entry.name + "\n";
    }
  }

  void inputs(const Program& program) {
    text_ += "inputs:\n";
    for (const InputSpec& input : program.inputs) {
      text_ += "  ";
      text_ += input.value ? "%" + input.value->name + ": " + type_text(*input.value)
                           : std::string("constant");
      text_ += input_note(input) + "\n";
    }
  }

  static std::string input_note(const InputSpec& input) {
    if (input.kind == InputKind::kUser) return {};
    constexpr const char* kNames[] = {"user", "parameter", "buffer", "constant", "object", "token"};
    std::string note = std::string("  # ") + kNames[static_cast<std::size_t>(input.kind)];
    if (!input.target.empty()) note += " " + input.target;
    if (input.kind == InputKind::kBuffer && !input.persistent) note += ", not persistent";
    const Weight* weight = input.value ? input.value->weight : nullptr;
    if (!weight) return note;
    note += ", strides " + sizes_text(weight->strides);
    if (weight->offset != 0) note += ", offset " + std::to_string(weight->offset);
    if (lacks_data(*weight)) note += ", no data";
    return note;
  }

  void outputs(const Program& program) {
    text_ += "outputs:\n";
    for (const OutputSpec& output : program.outputs) {
      text_ += "  " + argument_text(output.value);
      if (Value* const* value = output.value.get<Value*>()) text_ += ": " + type_text(**value);
      switch (output.kind) {
        case OutputKind::kBufferMutation:
          text_ += "  # updates buffer " + output.target;
          break;
        case OutputKind::kInputMutation:
          text_ += "  # updates input " + output.target;
          break;
        case OutputKind::kToken:
          text_ += "  # token";
          break;
        case OutputKind::kUser:
        case OutputKind::kLoss:
          break;
      }
      text_ += "\n";
    }
  }

  void body(const Graph& graph, int depth) {
    for (const Call* call : graph.calls) this->call(*call, depth);
  }

  void call(const Call& call, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    text_ += indent;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      if (i > 0) text_ += ", ";
      const Value* value = call.outputs[i];
      text_ += value ? "%" + value->name + ": " + type_text(*value) : "_";
    }
    if (!call.outputs.empty()) text_ += " = ";
    text_ += call.schema->qualified() + "(" + arguments(call) + ")" + place(call) + "\n";
    for (const Argument& argument : call.arguments) {
      if (Graph* const* inner = argument.get<Graph*>()) this->graph(**inner, depth + 1);
    }
  }

  // Tensors in front go by position; everything else is named, and left out where it is the
  // default.
  static std::string arguments(const Call& call) {
    std::string text;
    bool positional = true;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const Parameter& parameter = call.schema->parameters[i];
      const Argument& argument = call.arguments[i];
      positional = positional && !parameter.keyword_only && argument.get<Value*>();
      if (is_default(parameter, argument)) continue;
      if (!text.empty()) text += ", ";
      text += (positional ? "" : parameter.name + "=") + argument_text(argument);
    }
    return text;
  }

  static std::string place(const Call& call) {
    if (!call.source) return {};
    const std::string module = call.source->module_path();
    const base::UserLocation location = call.source->location();
    std::string text;
    if (!module.empty()) text += "  # " + module;
    if (location.file.empty()) return text;
    const std::string file = location.file.substr(location.file.rfind('/') + 1);
    return text + (text.empty() ? "  # " : ", ") + file + ":" + std::to_string(location.line);
  }

  void graph(const Graph& graph, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    text_ += indent + "@" + graph.name + "(";
    for (const Value* input : graph.inputs) {
      if (input != graph.inputs.front()) text_ += ", ";
      text_ += input ? "%" + input->name + ": " + type_text(*input) : "_";
    }
    text_ += ")\n";
    body(graph, depth + 1);
    text_ += indent + "  return";
    for (const Argument& output : graph.outputs) text_ += " " + argument_text(output);
    text_ += "\n";
  }

  std::string text_;
};

}  // namespace

std::string type_text(const Value& value) {
  const std::string text = type_text(static_cast<const ValueType&>(value));
  switch (value.kind) {
    case ValueKind::kTensor:
      return value.strides.empty() ? text : text + " strides " + shape_text(value.strides);
    case ValueKind::kInt:
    case ValueKind::kFloat:
    case ValueKind::kBool:
      return text + " " + expr_text(value.expr);
    default:
      return text;
  }
}

std::string to_string(const Program& program) { return Listing().of(program); }

}  // namespace sardonyx::program

// The structural check of a program.
#include <string>
#include <unordered_set>

#include "program/program.h"

namespace sardonyx::program {
namespace {

using Defined = std::unordered_set<const Value*>;

[[noreturn]] void refuse(const std::string& what, const Call* call = nullptr) {
  base::Diagnostic diagnostic;
  diagnostic.code = "SX1205";
  diagnostic.message = "the program is malformed: " + what;
  if (call) {
    diagnostic.node = call->name;
    if (call->schema) diagnostic.op = call->schema->qualified();
    if (call->source) {
      diagnostic.module_path = call->source->module_path();
      diagnostic.location = call->source->location();
    }
  }
  throw base::Error(std::move(diagnostic));
}

class Verifier {
 public:
  void check(const Graph& graph) {
    Defined defined;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const Value* input = graph.inputs[i];
      if (!input) continue;  // a constant that the body does not use
      if (input->producer) refuse("graph input '" + input->name + "' has a producer");
      if (!defined.insert(input).second) refuse("input '" + input->name + "' occurs twice");
      check_value(*input, nullptr);
    }
    for (const Call* call : graph.calls) check_call(call, defined);
    for (const Argument& output : graph.outputs) check_uses(output, defined, nullptr);
  }

 private:
  static void check_value(const Value& value, const Call* call) {
    if (value.kind != ValueKind::kTensor) return;
    if (value.dtype == base::DType::kUndefined)
      refuse("tensor '" + value.name + "' has no dtype", call);
    if (!value.strides.empty() && value.strides.size() != value.shape.size())
      refuse("tensor '" + value.name + "' has strides of another rank", call);
  }

  static void check_uses(const Argument& argument, const Defined& defined, const Call* call) {
    argument.each_value([&](const Value* value) {
      if (!value) refuse("a value is missing", call);
      if (!defined.contains(value))
        refuse("'" + value->name + "' is used before it is defined", call);
    });
  }

  void check_call(const Call* call, Defined& defined) {
    if (!call || !call->schema) refuse("a call has no schema", call);
    if (call->arguments.size() != call->schema->parameters.size())
      refuse("an argument is not bound", call);
    for (const Argument& argument : call->arguments) {
      check_uses(argument, defined, call);
      if (Graph* const* body = argument.get<Graph*>()) {
        if (!*body) refuse("a body is missing", call);
        check(**body);
      }
    }
    for (std::size_t i = 0; i < call->outputs.size(); ++i) {
      const Value* output = call->outputs[i];
      if (!output) continue;
      if (output->producer != call || output->index != i)
        refuse("output '" + output->name + "' does not know its producer", call);
      if (!defined.insert(output).second) refuse("'" + output->name + "' is defined twice", call);
      check_value(*output, call);
    }
  }
};

void check_signature(const Program& program) {
  std::size_t next = 0;
  for (const InputSpec& input : program.inputs) {
    if (!input.value) continue;
    if (next >= program.graph->inputs.size() || program.graph->inputs[next] != input.value)
      refuse("the inputs of the signature and of the graph differ at '" + input.value->name + "'");
    ++next;
  }
  if (next != program.graph->inputs.size()) refuse("the graph has more inputs than the signature");
}

}  // namespace

void verify(const Program& program) {
  if (!program.graph) refuse("it has no graph");
  check_signature(program);
  Verifier().check(*program.graph);
}

}  // namespace sardonyx::program

// The structural check of a program.
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "program/ir/place.h"
#include "program/ir/program.h"
#include "program/ir/regions.h"

namespace sardonyx::program {
namespace {

// The values of a graph, and of those around it where it reads them by itself.
struct Defined {
  const Defined* around = nullptr;
  std::unordered_set<const Value*> values;

  bool contains(const Value* value) const {
    return values.contains(value) || (around && around->contains(value));
  }
};

[[noreturn]] void fail(std::string_view code, const std::string& message, const Call* call,
                       std::string_view help = {}) {
  base::Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = message;
  diagnostic.help = help;
  if (call) place(diagnostic, *call);
  throw base::Error(std::move(diagnostic));
}

[[noreturn]] void refuse(const std::string& what, const Call* call = nullptr) {
  fail("SX1205", "the program is malformed: " + what, call);
}

// How many types what holds others names; nothing where any number will do.
std::optional<std::size_t> item_count(ValueKind kind) {
  switch (kind) {
    case ValueKind::kTuple:
      return std::nullopt;
    case ValueKind::kOptional:
    case ValueKind::kList:
      return 1;
    case ValueKind::kDict:
      return 2;
    default:
      return 0;
  }
}

class Verifier {
 public:
  // `around` is what the graph may read besides its inputs.
  void check(const Graph& graph, const Defined* around = nullptr) {
    Defined defined{around, {}};
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const Value* input = graph.inputs[i];
      if (!input) continue;  // a constant that the body does not use
      if (input->producer) refuse("graph input '" + input->name + "' has a producer");
      if (!defined.values.insert(input).second) refuse("input '" + input->name + "' occurs twice");
      check_value(*input, nullptr);
    }
    for (const Call* call : graph.calls) check_call(call, defined);
    for (const Argument& output : graph.outputs) check_uses(output, defined, nullptr);
  }

 private:
  static void check_type(const ValueType& type, const Value& value, const Call* call) {
    if (!type.has_rank && !type.shape.empty())
      refuse("tensor '" + value.name + "' has a shape and no rank", call);
    const auto count = item_count(type.kind);
    if (count && type.items.size() != *count)
      refuse("the type of '" + value.name + "' does not say what it holds", call);
    for (const ValueType& item : type.items) check_type(item, value, call);
  }

  static void check_value(const Value& value, const Call* call) {
    check_type(value, value, call);
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
        const RegionKind* kind = region_kind(*call->schema);
        check(**body, kind && kind->captures ? &defined : nullptr);
      }
    }
    for (std::size_t i = 0; i < call->outputs.size(); ++i) {
      const Value* output = call->outputs[i];
      if (!output) continue;
      if (output->producer != call || output->index != i)
        refuse("output '" + output->name + "' does not know its producer", call);
      if (!defined.values.insert(output).second)
        refuse("'" + output->name + "' is defined twice", call);
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

void require_settled(const Value* value, const Call* call) {
  if (!value || is_settled(*value)) return;
  fail("SX1207",
       "'" + value->name + "' is " + type_text(static_cast<const ValueType&>(*value)) +
           ", and this stage needs tensors of known dtype and rank, and numbers",
       call, "capture the model with torch.export, which settles the type of every value");
}

void require_settled(const Graph& graph) {
  for (const Value* input : graph.inputs) require_settled(input, nullptr);
  for (const Call* call : graph.calls) {
    const RegionKind* kind = region_kind(*call->schema);
    if (kind && kind->captures) {
      fail("SX1207", "the bodies of " + call->schema->qualified() + " read what stands around them",
           call, "capture the model with torch.export, which hands bodies what they read");
    }
    for (const Value* output : call->outputs) {
      // Branches may differ in rank, where nothing but a branch around them reads that.
      const bool any_rank = output && kind && call->schema->base_name() == "cond" &&
                            !output->has_rank && output->dtype != base::DType::kUndefined;
      if (!any_rank) require_settled(output, call);
    }
    for (const Argument& argument : call->arguments) {
      if (Graph* const* body = argument.get<Graph*>()) require_settled(**body);
    }
  }
}

}  // namespace

void require_settled(const Program& program) { require_settled(*program.graph); }

void verify(const Program& program) {
  if (!program.graph) refuse("it has no graph");
  check_signature(program);
  Verifier().check(*program.graph);
}

}  // namespace sardonyx::program

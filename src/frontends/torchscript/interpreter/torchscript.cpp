#include "frontends/torchscript/torchscript.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/diagnostic.h"
#include "frontends/torchscript/interpreter/abstract_interpreter.h"
#include "frontends/torchscript/interpreter/inputs.h"
#include "frontends/torchscript/interpreter/state.h"
#include "frontends/torchscript/recording/interruptions.h"
#include "frontends/torchscript/recording/quantized.h"
#include "frontends/torchscript/recording/sequences.h"
#include "program/ir/regions.h"
#include "program/ir/unread_outputs.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Value;

namespace {

// Weights first, as torch.export orders them.
void order_inputs(program::Program& program) {
  std::ranges::stable_partition(program.inputs, [](const program::InputSpec& input) {
    return input.kind != program::InputKind::kUser;
  });
  for (const program::InputSpec& input : program.inputs) {
    if (!input.value) continue;
    input.value->index = static_cast<std::uint32_t>(program.graph->inputs.size());
    program.graph->inputs.push_back(input.value);
  }
}

using Symbols = std::unordered_set<symbolic::Expr, symbolic::ExprHash>;

// The data-dependent sizes that the program computes with.
void add_read_sizes(const program::Argument& argument, Symbols& read) {
  if (const auto* expr = argument.get<symbolic::Expr>()) {
    for (const symbolic::Expr symbol : symbolic::symbols_of(*expr))
      if (symbol.is_unbacked()) read.insert(symbol);
  }
  if (const auto* list = argument.get<program::List>())
    for (const program::Argument& item : *list) add_read_sizes(item, read);
}

void add_read_sizes(const program::Graph& graph, Symbols& read) {
  for (const program::Call* call : graph.calls) {
    for (const program::Argument& argument : call->arguments) {
      if (program::Graph* const* body = argument.get<program::Graph*>())
        add_read_sizes(**body, read);
      else
        add_read_sizes(argument, read);
    }
  }
  for (const program::Argument& output : graph.outputs) add_read_sizes(output, read);
}

bool tells_size(const Value& value, const Symbols& read) {
  return std::ranges::any_of(value.shape, [&](symbolic::Expr size) { return read.contains(size); });
}

// Of calls with several results. One that tells a size is read, though no call takes it.
void drop_unread(const program::Graph& graph, const Symbols& read) {
  std::vector<program::Element> elements;
  for (program::Call* call : graph.calls) {
    for (const program::Argument& argument : call->arguments)
      if (program::Graph* const* body = argument.get<program::Graph*>()) drop_unread(**body, read);
    if (call->outputs.size() < 2 || program::holds_bodies(*call)) continue;
    for (std::size_t i = 0; i < call->outputs.size(); ++i)
      if (call->outputs[i] && !tells_size(*call->outputs[i], read)) elements.push_back({call, i});
  }
  program::drop_unread(graph, elements);
}

void add_outputs(GraphRecorder& recorder, const AbstractValue& result, program::Program& program) {
  if (result.kind == Kind::kQuantized) {
    for (const AbstractValue& part : parts_of_quantized(recorder, result))
      add_outputs(recorder, part, program);
    return;
  }
  constexpr std::size_t kMaxOutputs = 100'000;
  if (program.outputs.size() > kMaxOutputs) refuse("more than 100,000 outputs");
  if (result.held && result.kind != Kind::kStack) {
    if (result.kind == Kind::kObject || result.kind == Kind::kOptional)
      refuse("forward() gives " + description(result));
    const bool is_dict = result.kind == Kind::kDict;
    for (std::size_t i = 0; i < result.held->items.size(); ++i)
      if (!is_dict || i % 2 == 1) add_outputs(recorder, as_read(result.held->items[i]), program);
    return;
  }
  if (result.kind == Kind::kStack) {
    if (!result.value) refuse("forward() gives a list that a loop is filling");
    Value* const list = as_sequence(recorder, *result.held, element_of(recorder, *result.held));
    program.graph->outputs.emplace_back(list);
    program.outputs.push_back({program::OutputKind::kUser, list, {}});
    return;
  }
  if (result.is_none()) {
    program.outputs.push_back({program::OutputKind::kUser, program::None{}, {}});
    return;
  }
  const program::Argument argument = !result.is_tensor() ? recorder.argument(result)
                                     : result.value && !result.value->has_rank
                                         ? program::Argument(result.value)
                                         : program::Argument(recorder.tensor(result));
  program.graph->outputs.push_back(argument);
  program.outputs.push_back({program::OutputKind::kUser, argument, {}});
}

// One pass over an archive.
class Reader {
 public:
  explicit Reader(const ReadOptions& options) : options_(options) {}

  std::unique_ptr<program::Program> read(archive::Bytes bytes, bool squeezes) {
    Archive archive(std::move(bytes));
    auto program = std::make_unique<program::Program>();
    const std::vector<AbstractValue> inputs = make_inputs(archive, options_, *program);
    AbstractInterpreter interpreter(archive, *program, options_, squeezes);
    AbstractValue result;
    try {
      result = follow(interpreter, inputs);
    } catch (...) {
      squeezes_by_size = interpreter.squeezes_by_size();
      throw;
    }
    squeezes_by_size = interpreter.squeezes_by_size();
    add_outputs(interpreter.recorder(), result, *program);
    add_state(interpreter.recorder());
    order_inputs(*program);
    Symbols read;
    add_read_sizes(*program->graph, read);
    drop_unread(*program->graph, read);
    program::verify(*program);
    return program;
  }

  // Whether the last pass met a squeeze() that a size decides.
  bool squeezes_by_size = false;

 private:
  AbstractValue follow(AbstractInterpreter& interpreter,
                       const std::vector<AbstractValue>& inputs) const {
    AbstractValue result;
    try {
      result = interpreter.run(options_.method, inputs);
    } catch (const Raised& raised) {
      // What could not be followed may be why.
      if (!interpreter.failures().empty()) throw base::Error(interpreter.failures());
      base::fail("SX1214", "the program raises an exception for these inputs: " + raised.message);
    } catch (const Failed&) {
    }
    if (!interpreter.failures().empty()) throw base::Error(interpreter.failures());
    return result;
  }

  const ReadOptions& options_;
};

std::vector<const Value*> rankless_outputs(const program::Program& program) {
  std::vector<const Value*> found;
  for (const program::Argument& output : program.graph->outputs) {
    const Value* const tensor = program::tensor_of(output);
    if (tensor && !tensor->has_rank) found.push_back(tensor);
  }
  return found;
}

base::Diagnostic about(const Value& output, const char* code, std::string message,
                       std::string help) {
  base::Diagnostic made;
  made.code = code;
  made.message = std::move(message);
  made.help = std::move(help);
  if (output.producer && output.producer->source) {
    made.module_path = output.producer->source->module_path();
    made.location = output.producer->source->location();
  }
  return made;
}

void note_no_rank(program::Program& program, const Value& output) {
  program.notes.push_back(about(output, "SX1216",
                                "the output '" + output.name +
                                    "' has one rank or another, as data or sizes decide: the model "
                                    "declares none, which onnx.checker rejects",
                                "return tensors of one rank"));
  program.notes.back().severity = base::Severity::kWarning;
}

[[noreturn]] void refuse_no_rank(const Value& output) {
  throw base::Error(about(output, "SX1207",
                          "the output '" + output.name +
                              "' has a data-dependent rank, and ONNX needs a rank of each output",
                          "return tensors of one rank, by unsqueeze() or reshape(-1) where it "
                          "differs; with dynamo=False the output declares none"));
}

}  // namespace

bool is_torchscript(const archive::ZipReader& zip) { return Archive::recognizes(zip); }

std::unique_ptr<program::Program> read_torchscript(archive::Bytes bytes,
                                                   const ReadOptions& options) {
  Reader reader(options);
  std::unique_ptr<program::Program> program;
  try {
    program = reader.read(bytes, true);
  } catch (const base::Error&) {
    if (!reader.squeezes_by_size) throw;
  }
  const bool is_declared = program && rankless_outputs(*program).empty();
  if (program && (is_declared || options.ranks_may_differ)) {
    for (const Value* output : rankless_outputs(*program)) note_no_rank(*program, *output);
    return program;
  }
  if (reader.squeezes_by_size) program = reader.read(bytes, false);
  for (const Value* output : rankless_outputs(*program)) refuse_no_rank(*output);
  return program;
}

}  // namespace sardonyx::torchscript

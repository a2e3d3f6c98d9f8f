#include "frontends/torchscript/interpreter/torchscript.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/diagnostic.h"
#include "frontends/torchscript/interpreter/abstract_interpreter.h"
#include "frontends/torchscript/interpreter/inputs.h"
#include "frontends/torchscript/interpreter/quantized.h"
#include "frontends/torchscript/interpreter/sequences.h"
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

// The sizes that data decide of which the program computes something.
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

void add_outputs(AbstractInterpreter& follower, const AbstractValue& result,
                 program::Program& program) {
  if (result.kind == Kind::kQuantized) {
    for (const AbstractValue& part : parts_of_quantized(follower, result))
      add_outputs(follower, part, program);
    return;
  }
  constexpr std::size_t kMaxOutputs = 100'000;
  if (program.outputs.size() > kMaxOutputs) follower.refuse("more than 100,000 outputs");
  if (result.held && result.kind != Kind::kStack) {
    if (result.kind == Kind::kObject || result.kind == Kind::kMaybe)
      follower.refuse("forward() gives " + description(result));
    const bool is_dict = result.kind == Kind::kDict;
    for (std::size_t i = 0; i < result.held->items.size(); ++i)
      if (!is_dict || i % 2 == 1) add_outputs(follower, as_read(result.held->items[i]), program);
    return;
  }
  if (result.kind == Kind::kStack) {
    if (!result.value) follower.refuse("forward() gives a list that a loop is filling");
    Value* const list = as_sequence(follower, *result.held, element_of(follower, *result.held));
    program.graph->outputs.emplace_back(list);
    program.outputs.push_back({program::OutputKind::kUser, list, {}});
    return;
  }
  if (result.is_none()) {
    program.outputs.push_back({program::OutputKind::kUser, program::None{}, {}});
    return;
  }
  const program::Argument argument = !result.is_tensor() ? follower.argument(result)
                                     : result.value && !result.value->has_rank
                                         ? program::Argument(result.value)
                                         : program::Argument(follower.tensor(result));
  program.graph->outputs.push_back(argument);
  program.outputs.push_back({program::OutputKind::kUser, argument, {}});
}

}  // namespace

bool is_torchscript(const archive::ZipReader& zip) { return Archive::recognises(zip); }

std::unique_ptr<program::Program> read_torchscript(archive::Bytes bytes,
                                                   const ReadOptions& options) {
  Archive archive(std::move(bytes));
  auto program = std::make_unique<program::Program>();
  const std::vector<AbstractValue> inputs = make_inputs(archive, options, *program);
  AbstractInterpreter follower(archive, *program, options);
  AbstractValue result;
  try {
    result = follower.run(options.method, inputs);
  } catch (const Raised& raised) {
    // What could not be followed may be why.
    if (!follower.failures().empty()) throw base::Error(follower.failures());
    base::fail("SX1214", "the program raises an exception for these inputs: " + raised.message);
  } catch (const Failed&) {
  }
  if (!follower.failures().empty()) throw base::Error(follower.failures());
  add_outputs(follower, result, *program);
  follower.add_state();
  order_inputs(*program);
  Symbols read;
  add_read_sizes(*program->graph, read);
  drop_unread(*program->graph, read);
  program::verify(*program);
  return program;
}

}  // namespace sardonyx::torchscript

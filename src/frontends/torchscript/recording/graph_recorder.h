// Writes down the calls that are left of a program, in the graph that is being filled.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/torchscript/recording/mutation_tracker.h"
#include "frontends/torchscript/recording/operands.h"
#include "frontends/torchscript/recording/source_tracker.h"
#include "frontends/torchscript/recording/weights.h"
#include "frontends/torchscript/torchscript.h"
#include "program/inference/sampled_results.h"
#include "program/ir/program.h"

namespace sardonyx::torchscript {

// Calls that change more than the graph, or that become branches.
class SpecialCalls {
 public:
  virtual ~SpecialCalls() = default;
  // A view in place, or a squeeze() that a size decides. Nothing for others.
  virtual std::optional<AbstractValue> special_call(const Operands& operands) = 0;
  // With a data-dependent axis. Nothing where all are known.
  virtual std::optional<AbstractValue> call_for_each_axis(
      const program::Schema& schema, const std::vector<program::Argument>& arguments) = 0;
};

class GraphRecorder {
 public:
  // `version`: of the operators that the program was written for.
  GraphRecorder(program::Program& program, const ReadOptions& options, std::int64_t version,
                SourceTracker& position, Weights& weights, MutationTracker& writes,
                SpecialCalls& special_calls);

  program::Program& program() { return program_; }
  symbolic::Pool& pool() { return *program_.pool; }
  const ReadOptions& options() const { return options_; }
  Weights& weights() { return weights_; }
  MutationTracker& writes() { return writes_; }

  // The graph that calls are recorded in.
  program::Graph& graph() { return *graph_; }
  program::Graph* exchange_graph(program::Graph* graph) { return std::exchange(graph_, graph); }

  // A tensor that calls may take; a number becomes a 0-d one.
  program::Value* tensor(const AbstractValue& datum);
  // Rejected where the rank is data-dependent.
  static void check_rank(const program::Value& value);
  // As an argument of a call.
  program::Argument argument(const AbstractValue& datum);
  // A 0-d tensor of bool.
  program::Value* truth_tensor(const AbstractValue& datum);

  // Records a call and gives its results.
  AbstractValue call(const std::string& op, std::vector<AbstractValue> positional,
                     std::vector<NamedValue> named = {});
  AbstractValue call(const program::Schema& schema, std::vector<program::Argument> arguments);
  // Of results that have these types.
  std::vector<program::Value*> call(const program::Schema& schema,
                                    std::vector<program::Argument> arguments,
                                    std::vector<program::ValueType> types);
  // A call of control flow, which append() records when its bodies are known.
  program::Call* new_call(const char* op);
  void append(program::Call* call) { graph_->calls.push_back(call); }
  std::string new_name(std::string_view base);

  // The overloads of an operator that no table of ours has.
  const std::vector<const program::Schema*>& overloads_elsewhere(const std::string& op);
  // The number that a tensor of one element holds.
  AbstractValue item(const AbstractValue& tensor);
  // The tensor that tracing makes of a number.
  AbstractValue traced_number(const AbstractValue& number);
  // x.tolist(): a number, or a list of them.
  AbstractValue list_of_tensor(const AbstractValue& tensor);

 private:
  program::Call* new_call(const program::Schema& schema, std::vector<program::Argument> arguments);

  program::Program& program_;
  const ReadOptions& options_;
  const std::int64_t version_;
  SourceTracker& position_;
  Weights& weights_;
  MutationTracker& writes_;
  SpecialCalls& special_calls_;
  program::Graph* graph_ = nullptr;
  std::unordered_map<std::string, int> names_;
  std::unordered_map<std::string, std::vector<const program::Schema*>> overloads_elsewhere_;
};

// An operator on numbers, texts, lists and dictionaries, or a question about tensors that their
// types answer. Nothing where the operator is to be called.
std::optional<AbstractValue> builtin(GraphRecorder& recorder, const Operands& operands);

// The overload that takes these arguments, with them. Throws SX1212 where none does.
struct Resolved {
  const program::Schema* schema = nullptr;
  std::vector<program::Argument> arguments;
};
Resolved resolve(GraphRecorder& recorder, const Operands& operands);

}  // namespace sardonyx::torchscript

// Follows the code of a program with what is known of its inputs, and records the calls that are
// left: methods are inlined, branches that sizes and attributes decide are taken, loops whose
// counts are known are run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "frontends/torchscript/control_flow/branches.h"
#include "frontends/torchscript/interpreter/expressions.h"
#include "frontends/torchscript/recording/interpretation.h"

namespace sardonyx::torchscript {

class AbstractInterpreter : private CodeFollower, private SpecialCalls, private Invoker {
 public:
  // `squeezes`: where a size decides whether squeeze() removes an axis, the program is followed for
  // either answer; otherwise the axis is kept.
  AbstractInterpreter(Archive& archive, program::Program& program, const ReadOptions& options,
                      bool squeezes);

  // What the method gives for these inputs. Failures are collected; see failures().
  AbstractValue run(const std::string& method, const std::vector<AbstractValue>& inputs);
  const std::vector<base::Diagnostic>& failures() const { return state_.failures; }
  // Whether the size of an axis that squeeze() may remove is not known.
  bool squeezes_by_size() const { return state_.sizes.decided_a_rank(); }
  GraphRecorder& recorder() { return state_.recorder; }

 private:
  // inputs
  void restore(const AbstractValue& datum, std::unordered_set<const Container*>& seen);
  AbstractValue number_of_input(const AbstractValue& input);

  // functions
  AbstractValue invoke(const Function& function, std::vector<AbstractValue> positional,
                       std::vector<NamedValue> named) override;
  AbstractValue invoke_method(const AbstractValue& object, const std::string& name,
                              std::vector<AbstractValue> positional,
                              std::vector<NamedValue> named) override;
  AbstractValue construct(const std::string& type, std::vector<AbstractValue> positional,
                          std::vector<NamedValue> named) override;

  // statements
  void follow(const std::vector<Statement>& block) override;
  bool follow_in_block(const Statement& statement, std::span<const Statement> rest);
  void follow(const Statement& statement);
  AbstractValue evaluate(const Expression& expression) override {
    return expressions_.evaluate(expression);
  }
  void within(const Statement& statement);
  void assign(const Expression& target, const AbstractValue& value) override;
  void assign_items(const Expression& target, const AbstractValue& value);
  void assign_rows(const Expression& target, const AbstractValue& value);
  void assign_attribute(const Expression& target, const AbstractValue& value);
  void fail_targets(const std::vector<Statement>& block);

  // calls
  std::optional<AbstractValue> special_call(const Operands& operands) override;
  std::optional<AbstractValue> call_for_each_axis(
      const program::Schema& schema, const std::vector<program::Argument>& arguments) override;

  Interpretation state_;
  ExpressionEvaluator expressions_;
  Branches branches_;
  std::int64_t steps_ = 0;
};

}  // namespace sardonyx::torchscript

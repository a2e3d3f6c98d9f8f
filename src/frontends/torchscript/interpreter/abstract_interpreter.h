// Follows the code of a program with what is known of its inputs, and writes down the calls that
// are left: methods are inlined, branches that sizes and attributes decide are taken, loops whose
// counts are known are run.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontends/torchscript/archive/archive.h"
#include "frontends/torchscript/interpreter/torchscript.h"
#include "frontends/torchscript/syntax/liveness.h"
#include "frontends/torchscript/syntax/syntax.h"
#include "frontends/torchscript/values/abstract_value.h"
#include "program/inference/sampled_results.h"
#include "program/ir/program.h"

namespace sardonyx::torchscript {

using NamedValue = std::pair<std::string, AbstractValue>;

// The arguments of one call of an operator, as the code writes them.
struct Operands {
  std::string op;  // "aten::add"
  std::vector<AbstractValue> positional;
  std::vector<NamedValue> named;

  // By position; SX1211 where there is none.
  const AbstractValue& at(std::size_t position) const;
  // By position, or by name; null where there is none.
  const AbstractValue* find(std::size_t position, std::string_view name) const;
};

class Body;
class Merge;

class AbstractInterpreter {
 public:
  // `squeezes`: where a size decides whether squeeze() removes an axis, the program is followed for
  // either answer; otherwise the axis is kept.
  AbstractInterpreter(Archive& archive, program::Program& program, const ReadOptions& options,
                      bool squeezes);

  // What the method gives for these inputs. Failures are collected; see failures().
  AbstractValue run(const std::string& method, const std::vector<AbstractValue>& inputs);
  const std::vector<base::Diagnostic>& failures() const { return failures_; }
  // Whether the size of an axis that squeeze() may remove is not known.
  bool squeezes_by_size() const { return squeezes_by_size_; }
  const ReadOptions& options() const { return options_; }

  program::Program& program() { return program_; }
  symbolic::Pool& pool() { return *program_.pool; }

  // A tensor that calls may take; a number becomes a 0-d one.
  program::Value* tensor(const AbstractValue& datum);
  // Rejected where the rank is data-dependent.
  void check_rank(const program::Value& value) const;
  // As an argument of a call.
  program::Argument argument(const AbstractValue& datum);
  // A 0-d tensor of bool.
  program::Value* truth_tensor(const AbstractValue& datum);

  // Writes a call down and gives its results.
  AbstractValue call(const std::string& op, std::vector<AbstractValue> positional,
                     std::vector<NamedValue> named = {});
  AbstractValue call(const program::Schema& schema, std::vector<program::Argument> arguments);
  // Of results that have these types.
  std::vector<program::Value*> call(const program::Schema& schema,
                                    std::vector<program::Argument> arguments,
                                    std::vector<program::ValueType> types);
  // For a data-dependent axis (axes.cpp); nothing where all are known.
  std::optional<AbstractValue> call_for_each_axis(const program::Schema& schema,
                                                  std::vector<program::Argument> arguments);
  // The overloads of an operator that no table of ours has.
  const std::vector<const program::Schema*>& overloads_elsewhere(const std::string& op);
  // The elements of a tensor of int16 that lies in the archive; none of any other.
  std::vector<std::int64_t> stored_integers(const StoredTensor& stored) const;
  // Makes what lists, tuples and packed weights hold of the archive's tensors values of calls.
  void read_weights(const AbstractValue& container);
  // The number that a tensor of one element holds.
  AbstractValue item(const AbstractValue& tensor);
  // The tensor that tracing makes of a number.
  AbstractValue traced_number(const AbstractValue& number);
  AbstractValue list_of_tensor(const AbstractValue& tensor);

  // Told of a tensor that a list of tensors takes: it holds a copy, which no later write changes.
  void copy_into_list(const program::Value* element);

  // Whether the program has written to the tensor, or to what it is a view of.
  bool was_written(const program::Value* value) const;

  // Told before a list, a dictionary or an attribute changes.
  void before_write(const std::shared_ptr<Container>& held);

  // What the program leaves in the attributes of modules becomes outputs (state.cpp).
  void add_state();

  // SX1211, at the line that is followed.
  [[noreturn]] void refuse(const std::string& what, const std::string& help = {}) const;

 private:
  using Variables = std::map<std::string, AbstractValue>;

  // What a function's code knows.
  struct Frame {
    const Function* function = nullptr;
    Variables variables;
    std::optional<AbstractValue> result;
    Frame* caller = nullptr;
  };
  // A write to a list, a dictionary or an attribute, and what was there before.
  struct Write {
    std::shared_ptr<Container> held;
    Container before;
  };
  using UndoLog = std::vector<Write>;

  // Has objects whose code restores them follow that code, in `datum` and what it holds.
  void restore(const AbstractValue& datum, std::unordered_set<const Container*>& seen);

  AbstractValue number_of_input(const AbstractValue& input);

  // functions
  AbstractValue invoke(const Function& function, std::vector<AbstractValue> positional,
                       std::vector<NamedValue> named);
  AbstractValue invoke_method(const AbstractValue& object, const std::string& name,
                              std::vector<AbstractValue> positional, std::vector<NamedValue> named);
  AbstractValue construct(const std::string& type, std::vector<AbstractValue> positional,
                          std::vector<NamedValue> named);

  // statements.cpp
  void follow(const std::vector<Statement>& block);
  void follow(const Statement& statement);
  void assign(const Expression& target, const AbstractValue& value);
  void within(const Statement& statement);
  void assign_rows(const Expression& target, const AbstractValue& value);
  void assign_attribute(const Expression& target, const AbstractValue& value);
  void fail_targets(const std::vector<Statement>& block);

  // squeezes.cpp
  std::optional<AbstractValue> squeeze(const Operands& operands);
  std::optional<bool> is_one(symbolic::Expr size) const;
  std::size_t level_that_knows(symbolic::Expr size) const;
  void branch_on_size(symbolic::Expr condition, std::span<const Statement> statements);

  // branches.cpp
  void branch(const Statement& statement);
  void branch_on_data(const Statement& statement, const AbstractValue& condition,
                      const Statement* last);
  void follow_assuming(Body& body, const std::vector<Statement>& block,
                       const AbstractValue& condition, bool truth);
  void branch_to_the_end(const Statement& statement, const AbstractValue& condition,
                         std::span<const Statement> rest);
  AbstractValue either(const AbstractValue& condition, const std::function<AbstractValue()>& first,
                       const std::function<AbstractValue()>& second);
  void mark_possible_aliases(const Statement& statement, const Merge& merge);

  // loops.cpp
  void loop(const Statement& statement);
  void count_up(const Statement& statement);
  void repeat(const Statement& statement);
  void once_more(const std::vector<Statement>& body);

  friend class Body;
  friend class Merge;
  friend class DynamicLoop;

  // A statement that is followed, and the graph as it was before.
  struct Level {
    const program::Graph* graph;
    std::size_t calls;
  };
  class Followed;

  // expressions.cpp
  AbstractValue evaluate(const Expression& expression);
  AbstractValue evaluate_call(const Expression& expression);
  AbstractValue evaluate_named_call(const std::string& name, const Expression& expression);
  AbstractValue evaluate_subscript(const Expression& expression);
  AbstractValue evaluate_attribute(const Expression& expression);
  std::optional<AbstractValue> enumerator(const std::string& name);
  AbstractValue name_of_enumerator(const AbstractValue& member, const Class& type);
  AbstractValue attribute_of(const AbstractValue& object, const std::string& name);
  std::vector<AbstractValue> arguments_of(const Expression& call, std::vector<NamedValue>& named,
                                          std::size_t first = 1);
  AbstractValue special(const std::string& name, const Expression& expression, bool& known);

  // state.cpp
  void keep_state(const std::shared_ptr<Container>& held);
  void note_lost_state(const std::string& path);

  // geometry.cpp
  std::optional<AbstractValue> change_geometry(const Operands& operands);
  void replace_everywhere(const program::Value* before, const AbstractValue& after);

  // aliases.cpp
  std::unordered_set<const Container*> held_by(const Names& names, const Variables& variables);
  void may_alias(const std::shared_ptr<Container>& held);
  [[noreturn]] void refuse_write_to_alias() const;

  // weights.cpp
  AbstractValue weight(StoredTensor& stored, program::InputKind kind);
  const program::Weight* stored_weight(const StoredTensor& stored);
  std::optional<symbolic::Expr> constant_integer(const StoredTensor& stored) const;

  program::Call* new_call(const program::Schema& schema, std::vector<program::Argument> arguments);
  // Adds the place that is followed.
  void locate(base::Diagnostic& diagnostic);
  void check_write(const program::Schema& schema, const std::vector<program::Argument>& arguments);
  [[noreturn]] void refuse_write_to_element(const std::string& op) const;
  const program::Source* source();
  std::string new_name(std::string_view base);
  bool decided(const AbstractValue& condition, bool& truth) const;

  Archive& archive_;
  program::Program& program_;
  const ReadOptions& options_;
  const bool squeezes_;
  bool squeezes_by_size_ = false;
  std::unordered_map<std::string, std::vector<const program::Schema*>> overloads_elsewhere_;
  program::Graph* graph_ = nullptr;
  Frame* frame_ = nullptr;
  Frame* body_frame_ = nullptr;  // of the innermost body: what bodies change in it is taken back
  int depth_ = 0;
  int tails_ = 0;              // branches around it that hold all that stands behind them
  std::vector<Level> levels_;  // statements that are followed, the innermost last
  // The first of them that is not yet followed for either answer of a branch.
  std::size_t first_level_ = 0;
  // Conditions on sizes that hold, or do not, in the branch that is followed.
  std::vector<std::pair<symbolic::Expr, bool>> assumed_;
  std::int64_t steps_ = 0;
  std::vector<program::ModuleFrame> modules_;
  std::vector<std::pair<const SourceFile*, std::size_t>> places_;  // calls, innermost last
  std::vector<base::Diagnostic> failures_;
  std::unordered_map<std::string, int> names_;
  std::unordered_map<std::string, program::Value*> weights_;
  std::unordered_map<std::string, program::Storage*> storages_;
  // Where a body is followed that may have to be taken back: what it wrote to.
  std::vector<UndoLog*> undo_logs_;
  // What modules held before the program changed it, in the order of the first changes.
  UndoLog states_;
  // Tensors of which lists hold copies, and those that were written to, in order: both as those
  // that they are views of.
  std::unordered_set<const program::Value*> copied_;
  std::vector<const program::Value*> written_;
  // Lists and dictionaries that may be one another.
  std::unordered_set<std::shared_ptr<Container>> possible_aliases_;
};

// The tensor that it is a view of, of a view of, and so on; itself where it is none.
const program::Value* whole_of(const program::Value* value);

// An operator on numbers, texts, lists and dictionaries, or a question about tensors that their
// types answer. Nothing where the operator is to be called.
std::optional<AbstractValue> builtin(AbstractInterpreter& interpreter, const Operands& operands);

// The overload that takes these arguments, with them. Throws SX1212 where none does.
struct Resolved {
  const program::Schema* schema = nullptr;
  std::vector<program::Argument> arguments;
};
Resolved resolve(AbstractInterpreter& interpreter, const Operands& operands);

// A data-dependent branch leaves a tensor of one rank or of another.
struct RanksDiffer {
  AbstractValue condition;
};

// A size decides the rank of a tensor: the statement at this level of those that are followed, and
// what stands behind it, has to be followed for either answer.
struct SizeDecides {
  symbolic::Expr condition;
  std::size_t level;
};

// Thrown where something is left out because what it needs has failed, which is reported.
struct Failed {};

// The program raises an exception where the followed code stands.
struct Raised {
  std::string message;
};

}  // namespace sardonyx::torchscript

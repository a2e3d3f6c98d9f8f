#include "frontends/torchscript/control_flow/branches.h"

#include <algorithm>
#include <utility>

#include "frontends/torchscript/recording/aliases.h"
#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/interruptions.h"
#include "frontends/torchscript/syntax/liveness.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::List;
using program::Value;
using symbolic::Expr;

void Branches::follow(const Statement& statement) {
  const AbstractValue condition = state_.code.evaluate(*statement.value);
  if (const auto truth = known_truth(condition))
    return state_.code.follow(*truth ? statement.body : statement.otherwise);
  if (condition.kind != Kind::kBool) refuse("a branch on " + description(condition));
  try {
    follow_both(statement, condition, nullptr);
  } catch (const RanksDiffer&) {
    throw RanksDiffer{condition};
  }
}

namespace {

// A branch that holds all that stands behind it, while it lives.
class Tail {
 public:
  explicit Tail(int& count) : count_(count) { ++count; }
  ~Tail() { --count_; }
  Tail(const Tail&) = delete;
  Tail& operator=(const Tail&) = delete;

 private:
  int& count_;
};

void append(std::vector<Statement>& block, std::span<const Statement> rest) {
  static const Expression kTarget = [] {
    Expression target;
    target.kind = Expression::Kind::kName;
    target.text = kResult;
    return target;
  }();
  static const Expression kNothing;
  for (const Statement& statement : rest) {
    block.push_back(statement);
    if (statement.kind != Statement::Kind::kReturn) continue;
    block.back().kind = Statement::Kind::kAssign;
    block.back().targets = {&kTarget};
    if (!statement.value) block.back().value = &kNothing;
  }
}

}  // namespace

void Branches::follow_to_the_end(const Statement& statement, const AbstractValue& condition,
                                 std::span<const Statement> rest) {
  constexpr int kMaxInEachOther = 6;
  if (tails_ >= kMaxInEachOther)
    refuse(
        "tensors have other ranks after one branch than after the other, and so often that the "
        "code behind them is not followed for each");
  Statement longer = statement;
  append(longer.body, rest);
  append(longer.otherwise, rest);
  {
    const Tail tail(tails_);
    const SizeAssumptions::Branched branched(state_.sizes);
    follow_both(longer, condition, rest.empty() ? &statement : &rest.back());
  }
  CallStack::Frame& frame = state_.stack.top();
  // Without a return it is for the branch around this one.
  const auto result = frame.variables.find(kResult);
  const bool returns = std::ranges::any_of(
      rest, [](const Statement& each) { return each.kind == Statement::Kind::kReturn; });
  if (!returns || result == frame.variables.end()) return;
  frame.result = result->second;
  frame.variables.erase(result);
}

void Branches::follow_by_size(Expr condition, std::span<const Statement> statements) {
  Statement both;
  both.kind = Statement::Kind::kIf;
  both.offset = statements.front().offset;
  follow_to_the_end(both, of_condition(condition), statements);
}

namespace {

// The numbers that stand for what was merged, in `datum` and what it holds.
void read_numbers(GraphRecorder& recorder, const std::vector<Value*>& pending,
                  AbstractValue& datum) {
  if (datum.is_tensor() && std::ranges::find(pending, datum.value) != pending.end()) {
    datum = recorder.item(datum);
  } else if (datum.held && (datum.kind == Kind::kTuple || datum.kind == Kind::kList ||
                            datum.kind == Kind::kDict || datum.kind == Kind::kOptional)) {
    for (AbstractValue& item : datum.held->items) read_numbers(recorder, pending, item);
  }
}

}  // namespace

// With what the branch knows: the condition, where sizes decide it.
void Branches::follow_assuming(Body& body, const std::vector<Statement>& block,
                               const AbstractValue& condition, bool truth) {
  const SizeAssumptions::Assumed assumed(state_.sizes, condition.expr, truth);
  body.follow(block);
}

// `last`: where `statement` also holds what stands behind it in its block, the end of that; ranks
// may differ.
void Branches::follow_both(const Statement& statement, const AbstractValue& condition,
                           const Statement* last) {
  GraphRecorder& recorder = state_.recorder;
  const std::uint64_t first_serial = Container::next_serial();
  Body taken(state_, "then"), other(state_, "else");
  follow_assuming(taken, statement.body, condition, true);
  follow_assuming(other, statement.otherwise, condition, false);
  // An assertion: the program goes on where nothing is raised.
  if (taken.raised && other.raised) throw Raised{taken.message};
  if (taken.raised) return state_.code.follow(statement.otherwise);
  if (other.raised) return state_.code.follow(statement.body);

  program::Call* call = recorder.new_call("higher_order::cond");
  Merge merge(recorder, *call, taken, other, first_serial, last != nullptr);
  Variables merged = merge_variables(merge, taken, other, last ? *last : statement);
  Contents contents = merge_contents(merge, taken, other);
  List operands = close({taken.graph, other.graph}, recorder.program());
  call->arguments = {recorder.argument(condition), taken.graph, other.graph, std::move(operands)};
  const bool writes = taken.writes_outside() || other.writes_outside();
  if (!call->outputs.empty() || writes) recorder.append(call);
  for (auto& [held, made] : contents) {
    state_.writes.before_write(held);
    *held = std::move(made);
    for (AbstractValue& item : held->items) read_numbers(recorder, merge.pending, item);
  }
  for (auto& [name, datum] : merged) {
    read_numbers(recorder, merge.pending, datum);
    state_.stack.variables()[name] = std::move(datum);
  }
  mark_possible_aliases(last ? *last : statement, merge);
}

// Those that are read after `end`.
Variables Branches::merge_variables(Merge& merge, const Body& taken, const Body& other,
                                    const Statement& end) {
  // Nothing is read behind what the block returns.
  const bool is_whole = taken.variables.contains(kResult) && other.variables.contains(kResult);
  // Nor is what the code sets anew before it reads it.
  const Names read = is_whole ? Names() : read_after(state_.stack.top().function->body, end);
  Variables merged;
  for (const auto& [name, datum] : taken.variables) {
    const auto elsewhere = other.variables.find(name);
    if (elsewhere == other.variables.end() || (name != kResult && !read.contains(name))) continue;
    merged[name] = merge.merge(datum, elsewhere->second, name);
  }
  return merged;
}

Branches::Contents Branches::merge_contents(Merge& merge, const Body& taken, const Body& other) {
  Contents contents;
  for (const auto& held : written_in(taken, other)) {
    const Container& left = taken.content(held);
    const Container& right = other.content(held);
    Container made = left;
    if (left.items.size() != right.items.size() || left.stack != right.stack) {
      if (held->filling) throw FillingRead{held};
      if (!left.names.empty() || held->is_dictionary)
        refuse("a data-dependent branch changes how many elements a dictionary has");
      merge.lists(left, right, made);
    }
    for (std::size_t i = 0; i < made.items.size(); ++i)
      made.items[i] = merge.merge(left.items[i], right.items[i], "item");
    contents.emplace_back(held, std::move(made));
  }
  return contents;
}

AbstractValue Branches::either(const AbstractValue& condition,
                               const std::function<AbstractValue()>& first,
                               const std::function<AbstractValue()>& second) {
  const std::uint64_t first_serial = Container::next_serial();
  Body taken(state_, "then"), other(state_, "else");
  AbstractValue left, right;
  taken.follow({}, [&] { left = first(); });
  other.follow({}, [&] { right = second(); });
  GraphRecorder& recorder = state_.recorder;
  program::Call* call = recorder.new_call("higher_order::cond");
  Merge merge(recorder, *call, taken, other, first_serial, true);
  AbstractValue made = merge.merge(left, right, kResult);
  List operands = close({taken.graph, other.graph}, recorder.program());
  call->arguments = {recorder.argument(condition), taken.graph, other.graph, std::move(operands)};
  recorder.append(call);
  read_numbers(recorder, merge.pending, made);
  return made;
}

// A list that is one of two, of which another variable holds one, or of which one is one of two
// others as well.
void Branches::mark_possible_aliases(const Statement& statement, const Merge& merge) {
  if (merge.pairs.empty()) return;
  const Containers held = held_by(read_after(state_.stack.top().function->body, statement),
                                  state_.stack.variables(), state_.stack, state_.archive.root());
  for (const Merge::Pair& pair : merge.pairs) {
    if (pair.made.kind == Kind::kTuple) continue;
    const bool is_held = held.contains(pair.left.get()) || held.contains(pair.right.get());
    const bool is_elsewhere = std::ranges::any_of(merge.pairs, [&](const Merge::Pair& other) {
      return &other != &pair && (other.left == pair.left || other.right == pair.right);
    });
    if (!is_held && !is_elsewhere) continue;
    for (const auto& each : {pair.left, pair.right, pair.made.held}) state_.writes.may_alias(each);
  }
}

}  // namespace sardonyx::torchscript

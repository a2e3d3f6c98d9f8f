// Branches: the one that is decided, or both, as bodies of one call.
#include <algorithm>
#include <span>

#include "base/diagnostic.h"
#include "frontends/torchscript/interpreter/aliases.h"
#include "frontends/torchscript/interpreter/body.h"
#include "frontends/torchscript/interpreter/optionals.h"
#include "frontends/torchscript/interpreter/sequences.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Argument;
using program::Graph;
using program::List;
using program::Value;
using symbolic::Expr;

// The variable of what a function returns, where branches hold all of it that stands behind them.
static constexpr const char* kResult = "(result)";

// What two branches leave in the same place, as one.
class Merge {
 public:
  // Containers that were made in the branches have greater serials than `first_serial`.
  Merge(AbstractInterpreter& interpreter, program::Call& call, Body& first, Body& second,
        std::uint64_t first_serial, bool ranks_may_differ)
      : interpreter_(interpreter),
        call_(call),
        first_(first),
        second_(second),
        first_serial_(first_serial),
        ranks_may_differ_(ranks_may_differ) {}

  AbstractValue merge(const AbstractValue& left, const AbstractValue& right,
                      const std::string& name) {
    if (left.kind == Kind::kUninitialized && right.kind == Kind::kUninitialized) return left;
    if (left.kind == Kind::kFailed || right.kind == Kind::kFailed) throw Failed();
    if (is_same(left, right)) return left;
    if (left.held && left.held == right.held) return left;
    if (left.kind == Kind::kUninitialized) return with_nothing(right, second_, first_, name, false);
    if (right.kind == Kind::kUninitialized) return with_nothing(left, first_, second_, name, true);
    if (needs_optional(left, right)) return optionals(left, right, name);
    if (left.is_tensor() && right.is_tensor()) return tensors(left, right, name);
    if (left.is_number() && right.is_number()) return numbers(left, right, name);
    return containers(left, right, name);
  }

  // Of a list that is of different lengths after the branches.
  void lists(const Container& left, const Container& right, Container& made) {
    const Element element = element_of_both(left, right);
    Value* const first = stack_in(first_, left, element);
    Value* const second = stack_in(second_, right, element);
    become(made,
           tensors(AbstractValue::of_tensor(first), AbstractValue::of_tensor(second), "list").value,
           element.kind);
  }

 private:
  Element element_of_both(const Container& left, const Container& right) {
    std::optional<Element> common;
    for (Body* body : {&first_, &second_}) {
      const Container& list = body == &first_ ? left : right;
      if (!list.stack && list.items.empty()) continue;
      const auto inside = body->inside();
      const Element element = without_local_sizes(*body, element_of(interpreter_, list));
      common = common ? common_element(interpreter_, *common, element) : element;
    }
    if (!common) interpreter_.refuse("a data-dependent branch leaves different lists");
    return *common;
  }

  Value* stack_in(Body& body, const Container& list, const Element& element) {
    const auto inside = body.inside();
    return stacked(interpreter_, list, element);
  }

  [[noreturn]] void refuse(const AbstractValue& left, const AbstractValue& right,
                           const std::string& name) {
    interpreter_.refuse("'" + name + "' is " + description(left) + " after one branch and " +
                            description(right) +
                            " after the other, and the branch is data-dependent",
                        "give both branches values of one type");
  }

  // What only one branch gives is read only where it was taken. What was there before the branch
  // stays what it is, so that writes to it show.
  AbstractValue with_nothing(const AbstractValue& given, const Body& from, Body& body,
                             const std::string& name, bool is_left) {
    const bool is_earlier = is_list(given) || given.kind == Kind::kDict;
    if (is_earlier && given.held->serial < first_serial_) return given;
    if ((given.is_tensor() || given.is_number()) && !from.is_local(given)) return given;
    const AbstractValue other = stand_in(given, from, body);
    return is_left ? merge(given, other, name) : merge(other, given, name);
  }

  static bool is_list(const AbstractValue& datum) {
    return datum.kind == Kind::kList || datum.kind == Kind::kStack;
  }

  AbstractValue stand_in(const AbstractValue& other, const Body& from, Body& body) {
    const auto inside = body.inside();
    return torchscript::stand_in(interpreter_, other, from);
  }

  AbstractValue optionals(const AbstractValue& left, const AbstractValue& right,
                          const std::string& name) {
    const AbstractValue one = as_optional(interpreter_, left, right, second_, first_),
                        other = as_optional(interpreter_, right, left, first_, second_);
    const AbstractValue present = merge(presence(one), presence(other), name);
    return of_optional(present, merge(content(one), content(other), name));
  }

  Value* output(Value* left, Value* right, const std::string& name) {
    first_.graph->outputs.emplace_back(left);
    second_.graph->outputs.emplace_back(right);
    Value* made = interpreter_.program().add_value();
    made->name = interpreter_.new_name(name == kResult ? "result" : name);
    made->dtype = left->dtype;
    made->producer = &call_;
    made->index = static_cast<std::uint32_t>(call_.outputs.size());
    call_.outputs.push_back(made);
    return made;
  }

  // Of tensors whose rank the branches decide, of which nothing asks for it.
  static Value* without_rank(const AbstractValue& datum) {
    return datum.value && !datum.value->has_rank ? datum.value : nullptr;
  }

  AbstractValue tensors(const AbstractValue& left, const AbstractValue& right,
                        const std::string& name) {
    Value *first = without_rank(left), *second = without_rank(right);
    const bool has_ranks = !first && !second;
    if (!first) first = first_.tensor(left);
    if (!second) second = second_.tensor(right);
    if (is_sequence(first)) {
      Value* made = output(first, second, name);
      static_cast<program::ValueType&>(*made) = *first;
      return AbstractValue::of_tensor(made);
    }
    const bool same_rank = has_ranks && first->rank() == second->rank();
    if (first->dtype == second->dtype && !same_rank && ranks_may_differ_) {
      Value* made = output(first, second, name);
      made->has_rank = false;
      return AbstractValue::of_tensor(made);
    }
    if (first->dtype != second->dtype || !same_rank) {
      if (first->dtype == second->dtype) throw RanksDiffer{};
      interpreter_.refuse("'" + name + "' is " + program::type_text(*first) +
                              " after one branch and " + program::type_text(*second) +
                              " after the other, and the branch is data-dependent",
                          "give both branches tensors of one element type and rank");
    }
    Value* made = output(first, second, name);
    for (std::size_t i = 0; i < first->rank(); ++i) {
      const Expr size = first->shape[i];
      const bool same = size == second->shape[i] && !first_.is_local(size);
      made->shape.push_back(same ? size : fresh_size(interpreter_.pool()));
    }
    return AbstractValue::of_tensor(made);
  }

  AbstractValue numbers(const AbstractValue& left, const AbstractValue& right,
                        const std::string& name) {
    if (left.kind != right.kind) refuse(left, right, name);
    // In this order whatever the compiler: it decides names.
    Value* const first = first_.tensor(left);
    Value* const second = second_.tensor(right);
    Value* made = output(first, second, name);
    AbstractValue tensor = AbstractValue::of_tensor(made);
    pending.push_back(made);
    return tensor;
  }

  // What is one list after the branches is one behind them, too.
  AbstractValue containers(const AbstractValue& left, const AbstractValue& right,
                           const std::string& name) {
    const auto known = std::ranges::find_if(pairs, [&](const Pair& pair) {
      return pair.left == left.held && pair.right == right.held && left.held && right.held;
    });
    if (known != pairs.end()) return known->made;
    AbstractValue made = new_container(left, right, name);
    pairs.push_back({left.held, right.held, made});
    return made;
  }

  // They hold what the branches left in them.
  AbstractValue new_container(const AbstractValue& left, const AbstractValue& right,
                              const std::string& name) {
    if (!left.held || !right.held) refuse(left, right, name);
    const Container &one = first_.content(left.held), &other = second_.content(right.held);
    const bool alike = left.kind == right.kind && one.items.size() == other.items.size() &&
                       one.type == other.type && one.stack == other.stack &&
                       left.kind != Kind::kStack;
    if (!alike && is_list(left) && is_list(right)) {
      AbstractValue made = AbstractValue::of_items(Kind::kStack, {});
      lists(one, other, *made.held);
      made.value = made.held->stack;
      return made;
    }
    if (!alike || left.kind == Kind::kObject) refuse(left, right, name);
    AbstractValue made = AbstractValue::of_items(left.kind, {});
    made.held->type = one.type;
    made.held->names = one.names;
    for (std::size_t i = 0; i < one.items.size(); ++i)
      made.held->items.push_back(merge(one.items[i], other.items[i], name));
    return made;
  }

  AbstractInterpreter& interpreter_;
  program::Call& call_;
  Body& first_;
  Body& second_;
  std::uint64_t first_serial_;
  bool ranks_may_differ_;

 public:
  // Results that stand for numbers.
  std::vector<Value*> pending;
  // Containers that differ after the branches, and what stands for both.
  struct Pair {
    std::shared_ptr<Container> left, right;
    AbstractValue made;
  };
  std::vector<Pair> pairs;
};

void AbstractInterpreter::branch(const Statement& statement) {
  const AbstractValue condition = evaluate(*statement.value);
  bool truth = false;
  if (decided(condition, truth)) return follow(truth ? statement.body : statement.otherwise);
  if (condition.kind != Kind::kBool) refuse("a branch on " + description(condition));
  try {
    branch_on_data(statement, condition, nullptr);
  } catch (const RanksDiffer&) {
    throw RanksDiffer{condition};
  }
}

namespace {

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

// What stands behind the branch in its block is followed in either side of it.
void AbstractInterpreter::branch_to_the_end(const Statement& statement,
                                            const AbstractValue& condition,
                                            std::span<const Statement> rest) {
  constexpr int kMaxInEachOther = 6;
  if (tails_ >= kMaxInEachOther)
    refuse(
        "tensors have other ranks after one branch than after the other, and so often that the "
        "code behind them is not followed for each");
  Statement longer = statement;
  append(longer.body, rest);
  append(longer.otherwise, rest);
  ++tails_;
  const std::size_t first_level = std::exchange(first_level_, levels_.size());
  const auto leave = [&] {
    --tails_;
    first_level_ = first_level;
  };
  try {
    branch_on_data(longer, condition, rest.empty() ? &statement : &rest.back());
  } catch (...) {
    leave();
    throw;
  }
  leave();
  // Without a return it is for the branch around this one.
  const auto result = frame_->variables.find(kResult);
  const bool returns = std::ranges::any_of(
      rest, [](const Statement& each) { return each.kind == Statement::Kind::kReturn; });
  if (!returns || result == frame_->variables.end()) return;
  frame_->result = result->second;
  frame_->variables.erase(result);
}

namespace {

// The numbers that stand for what was merged, in `datum` and what it holds.
void read_numbers(AbstractInterpreter& interpreter, const std::vector<Value*>& pending,
                  AbstractValue& datum) {
  if (datum.is_tensor() && std::ranges::find(pending, datum.value) != pending.end()) {
    datum = interpreter.item(datum);
  } else if (datum.held && (datum.kind == Kind::kTuple || datum.kind == Kind::kList ||
                            datum.kind == Kind::kDict || datum.kind == Kind::kOptional)) {
    for (AbstractValue& item : datum.held->items) read_numbers(interpreter, pending, item);
  }
}

}  // namespace

// With what the branch knows: the condition, where sizes decide it.
void AbstractInterpreter::follow_assuming(Body& body, const std::vector<Statement>& block,
                                          const AbstractValue& condition, bool truth) {
  const std::size_t before = assumed_.size();
  if (condition.expr.known()) assumed_.emplace_back(condition.expr, truth);
  try {
    body.follow(block);
  } catch (...) {
    assumed_.resize(before);
    throw;
  }
  assumed_.resize(before);
}

// `last`: where `statement` also holds what stands behind it in its block, the end of that; ranks
// may differ.
void AbstractInterpreter::branch_on_data(const Statement& statement, const AbstractValue& condition,
                                         const Statement* last) {
  const std::uint64_t first_serial = Container::next_serial();
  Body taken(*this, "then"), other(*this, "else");
  follow_assuming(taken, statement.body, condition, true);
  follow_assuming(other, statement.otherwise, condition, false);
  // An assertion: the program goes on where nothing is raised.
  if (taken.raised && other.raised) throw Raised{taken.message};
  if (taken.raised) return follow(statement.otherwise);
  if (other.raised) return follow(statement.body);

  program::Call* call = program_.add_call();
  call->schema = program::find_schema("higher_order::cond");
  call->name = new_name("cond");
  call->source = source();
  Merge merge(*this, *call, taken, other, first_serial, last != nullptr);
  // Nothing is read behind what the block returns.
  const bool is_whole = taken.variables.contains(kResult) && other.variables.contains(kResult);
  // Nor is what the code sets anew before it reads it.
  const Names read =
      is_whole ? Names() : read_after(frame_->function->body, last ? *last : statement);
  Variables merged;
  for (const auto& [name, datum] : taken.variables) {
    const auto elsewhere = other.variables.find(name);
    if (elsewhere == other.variables.end() || (name != kResult && !read.contains(name))) continue;
    merged[name] = merge.merge(datum, elsewhere->second, name);
  }
  std::vector<std::pair<std::shared_ptr<Container>, Container>> contents;
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
  List operands = close({taken.graph, other.graph}, program_);
  call->arguments = {argument(condition), taken.graph, other.graph, std::move(operands)};
  const bool writes = taken.writes_outside() || other.writes_outside();
  if (!call->outputs.empty() || writes) graph_->calls.push_back(call);
  for (auto& [held, made] : contents) {
    before_write(held);
    *held = std::move(made);
    for (AbstractValue& item : held->items) read_numbers(*this, merge.pending, item);
  }
  for (auto& [name, datum] : merged) {
    read_numbers(*this, merge.pending, datum);
    frame_->variables[name] = std::move(datum);
  }
  mark_possible_aliases(last ? *last : statement, merge);
}

// The result of one of two calls, chosen by data. Their ranks may differ. Neither changes a
// variable or a container.
AbstractValue AbstractInterpreter::either(const AbstractValue& condition,
                                          const std::function<AbstractValue()>& first,
                                          const std::function<AbstractValue()>& second) {
  const std::uint64_t first_serial = Container::next_serial();
  Body taken(*this, "then"), other(*this, "else");
  AbstractValue left, right;
  taken.follow({}, [&] { left = first(); });
  other.follow({}, [&] { right = second(); });
  program::Call* call = program_.add_call();
  call->schema = program::find_schema("higher_order::cond");
  call->name = new_name("cond");
  call->source = source();
  Merge merge(*this, *call, taken, other, first_serial, true);
  AbstractValue made = merge.merge(left, right, kResult);
  List operands = close({taken.graph, other.graph}, program_);
  call->arguments = {argument(condition), taken.graph, other.graph, std::move(operands)};
  graph_->calls.push_back(call);
  read_numbers(*this, merge.pending, made);
  return made;
}

// A list that is one of two, of which another variable holds one, or of which one is one of two
// others as well.
void AbstractInterpreter::mark_possible_aliases(const Statement& statement, const Merge& merge) {
  if (merge.pairs.empty()) return;
  const Containers held = held_by(read_after(frame_->function->body, statement), frame_->variables);
  for (const Merge::Pair& pair : merge.pairs) {
    if (pair.made.kind == Kind::kTuple) continue;
    const bool is_held = held.contains(pair.left.get()) || held.contains(pair.right.get());
    const bool is_elsewhere = std::ranges::any_of(merge.pairs, [&](const Merge::Pair& other) {
      return &other != &pair && (other.left == pair.left || other.right == pair.right);
    });
    if (!is_held && !is_elsewhere) continue;
    for (const auto& each : {pair.left, pair.right, pair.made.held}) may_alias(each);
  }
}

}  // namespace sardonyx::torchscript

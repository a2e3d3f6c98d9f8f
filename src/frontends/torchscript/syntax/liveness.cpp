#include "frontends/torchscript/syntax/liveness.h"

#include <optional>
#include <ranges>

namespace sardonyx::torchscript {

namespace {

void add(Names& names, const Expression& expression) {
  if (expression.kind == Expression::Kind::kName) names.insert(expression.text);
  for (const Expression* item : expression.items) add(names, *item);
  for (const auto& [keyword, value] : expression.keywords) add(names, *value);
}

// What the statement reads, without the statements in its body.
void add_own(Names& names, const Statement& statement) {
  if (statement.value) add(names, *statement.value);
  for (const Expression* target : statement.targets)
    if (target->kind == Expression::Kind::kAttribute) add(names, *target);
}

void add(Names& names, const Statement& statement) {
  add_own(names, statement);
  for (const Statement& each : statement.body) add(names, each);
  for (const Statement& each : statement.otherwise) add(names, each);
}

void remove_set(Names& names, const Expression& target) {
  if (target.kind == Expression::Kind::kName) names.erase(target.text);
  if (target.kind == Expression::Kind::kTuple)
    for (const Expression* item : target.items) remove_set(names, *item);
}

bool is_loop(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor || statement.kind == Statement::Kind::kWhile;
}

Names read_from(const std::vector<Statement>& block, Names after);

// What is read where a run of the loop begins, or is over: it may be the last one.
Names read_at_head(const Statement& loop, Names after) {
  add_own(after, loop);
  after.merge(read_from(loop.body, after));
  return after;
}

// What is read from the statement on.
Names read_from(const Statement& statement, Names after) {
  if (is_loop(statement)) return read_at_head(statement, std::move(after));
  if (statement.kind == Statement::Kind::kIf) {
    Names either = read_from(statement.body, after);
    either.merge(read_from(statement.otherwise, std::move(after)));
    add_own(either, statement);
    return either;
  }
  for (const Expression* target : statement.targets) remove_set(after, *target);
  add(after, statement);
  return after;
}

Names read_from(const std::vector<Statement>& block, Names after) {
  for (const Statement& each : block | std::views::reverse)
    after = read_from(each, std::move(after));
  return after;
}

// Nothing where the statement does not stand in the block.
std::optional<Names> read_behind(const std::vector<Statement>& block, const Statement& statement,
                                 Names after) {
  for (const Statement& each : block | std::views::reverse) {
    // A statement may be followed as a copy, where branches hold the code behind them.
    if (each.offset == statement.offset && each.kind == statement.kind) return after;
    const Names inner = is_loop(each) ? read_at_head(each, after) : after;
    if (auto found = read_behind(each.body, statement, inner)) return found;
    if (auto found = read_behind(each.otherwise, statement, after)) return found;
    after = read_from(each, std::move(after));
  }
  return std::nullopt;
}

}  // namespace

Names read_after(const std::vector<Statement>& block, const Statement& statement) {
  return read_behind(block, statement, {}).value_or(Names());
}

Names read_in(const Statement& statement) {
  Names names;
  add(names, statement);
  return names;
}

}  // namespace sardonyx::torchscript

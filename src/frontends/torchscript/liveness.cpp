#include "frontends/torchscript/liveness.h"

namespace sardonyx::torchscript {

namespace {

void add(Names& names, const Expression& expression) {
  if (expression.kind == Expression::Kind::kName) names.insert(expression.text);
  for (const Expression* item : expression.items) add(names, *item);
  for (const auto& [keyword, value] : expression.keywords) add(names, *value);
}

void add(Names& names, const Statement& statement) {
  if (statement.value) add(names, *statement.value);
  for (const Expression* target : statement.targets)
    if (target->kind == Expression::Kind::kAttribute) add(names, *target);
  for (const Statement& each : statement.body) add(names, each);
  for (const Statement& each : statement.otherwise) add(names, each);
}

bool is_loop(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor || statement.kind == Statement::Kind::kWhile;
}

// Whether the statement is in the block.
bool add_behind(Names& names, const std::vector<Statement>& block, const Statement& statement) {
  bool found = false;
  for (const Statement& each : block) {
    if (found) {
      add(names, each);
    } else if (&each == &statement) {
      found = true;
    } else if (add_behind(names, each.body, statement) ||
               add_behind(names, each.otherwise, statement)) {
      found = true;
      if (is_loop(each)) add(names, each);
    }
  }
  return found;
}

}  // namespace

Names read_after(const std::vector<Statement>& block, const Statement& statement) {
  Names names;
  add_behind(names, block, statement);
  return names;
}

Names read_in(const Statement& statement) {
  Names names;
  add(names, statement);
  return names;
}

}  // namespace sardonyx::torchscript

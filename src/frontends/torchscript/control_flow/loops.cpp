// Loops: run where their counts are known, else bodies of one call.
#include "frontends/torchscript/control_flow/dynamic_loop.h"
#include "frontends/torchscript/interpreter/body.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using symbolic::Expr;

namespace {

// Beyond it a loop stays one, though its count is known.
constexpr std::int64_t kMaxUnrolled = 256;
constexpr std::int64_t kMaxRuns = 100'000;

}  // namespace

void AbstractInterpreter::loop(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor ? count_up(statement) : repeat(statement);
}

void AbstractInterpreter::count_up(const Statement& statement) {
  const Expression& range = *statement.value;
  if (range.kind != Expression::Kind::kCall || range.items.front()->text != "range" ||
      range.items.size() != 2)
    refuse("a loop over something else than a range");
  const AbstractValue count = evaluate(*range.items[1]);
  if (count.kind != Kind::kInt) refuse("a range of " + description(count));
  if (!count.expr.is_constant() || count.expr.value() > kMaxUnrolled)
    return run_on_data(*this, statement, count, AbstractValue::of_bool(true));
  for (std::int64_t i = 0; i < count.expr.value(); ++i) {
    assign(*statement.targets.front(), AbstractValue::of_int(i));
    once_more(statement.body);
  }
}

void AbstractInterpreter::repeat(const Statement& statement) {
  for (std::int64_t i = 0;; ++i) {
    const AbstractValue condition = evaluate(*statement.value);
    bool truth = false;
    if (!decided(condition, truth)) return run_on_data(*this, statement, {}, condition);
    if (!truth) return;
    if (i > kMaxRuns) refuse("a loop of more than 100,000 runs");
    once_more(statement.body);
  }
}

// What fails in one iteration of a loop fails in all, and is reported once.
void AbstractInterpreter::once_more(const std::vector<Statement>& body) {
  const std::size_t known = failures_.size();
  follow(body);
  if (failures_.size() > known) throw Failed();
}

}  // namespace sardonyx::torchscript

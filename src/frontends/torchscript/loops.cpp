// Loops: run where their counts are known, else bodies of one call.
#include "frontends/torchscript/body.h"
#include "frontends/torchscript/loop_on_data.h"

namespace sardonyx::torchscript {

using Kind = Datum::Kind;
using symbolic::Expr;

namespace {

// Beyond it a loop stays one, though its count is known.
constexpr std::int64_t kMostUnrolled = 256;
constexpr std::int64_t kMostRuns = 100'000;

}  // namespace

void Follower::loop(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor ? count_up(statement) : repeat(statement);
}

void Follower::count_up(const Statement& statement) {
  const Expression& range = *statement.value;
  if (range.kind != Expression::Kind::kCall || range.items.front()->text != "range" ||
      range.items.size() != 2)
    refuse("a loop over something else than a range");
  const Datum count = evaluate(*range.items[1]);
  if (count.kind != Kind::kInt) refuse("a range of " + description(count));
  if (!count.expr.is_constant() || count.expr.value() > kMostUnrolled)
    return run_on_data(*this, statement, count, Datum::of_bool(true));
  for (std::int64_t i = 0; i < count.expr.value(); ++i) {
    assign(*statement.targets.front(), Datum::of_int(i));
    once_more(statement.body);
  }
}

void Follower::repeat(const Statement& statement) {
  for (std::int64_t i = 0;; ++i) {
    const Datum condition = evaluate(*statement.value);
    bool truth = false;
    if (!decided(condition, truth)) return run_on_data(*this, statement, {}, condition);
    if (!truth) return;
    if (i > kMostRuns) refuse("a loop of more than 100,000 runs");
    once_more(statement.body);
  }
}

// What fails in one run of a loop fails in all, and is told once.
void Follower::once_more(const std::vector<Statement>& body) {
  const std::size_t known = failures_.size();
  follow(body);
  if (failures_.size() > known) throw Failed();
}

}  // namespace sardonyx::torchscript

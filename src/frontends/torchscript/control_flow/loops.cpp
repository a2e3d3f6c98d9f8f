#include "frontends/torchscript/control_flow/loops.h"

#include "frontends/torchscript/control_flow/dynamic_loop.h"
#include "frontends/torchscript/recording/interruptions.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

// Beyond it a loop stays one, though its count is known.
constexpr std::int64_t kMaxUnrolled = 256;
constexpr std::int64_t kMaxRuns = 100'000;

// What fails in one iteration of a loop fails in all, and is reported once.
void once_more(Interpretation& state, const std::vector<Statement>& body) {
  const std::size_t known = state.failures.size();
  state.code.follow(body);
  if (state.failures.size() > known) throw Failed();
}

void count_up(Interpretation& state, const Statement& statement) {
  const Expression& range = *statement.value;
  if (range.kind != Expression::Kind::kCall || range.items.front()->text != "range" ||
      range.items.size() != 2)
    refuse("a loop over something else than a range");
  const AbstractValue count = state.code.evaluate(*range.items[1]);
  if (count.kind != Kind::kInt) refuse("a range of " + description(count));
  if (!count.expr.is_constant() || count.expr.value() > kMaxUnrolled)
    return DynamicLoop(state, statement, count, AbstractValue::of_bool(true)).run();
  for (std::int64_t i = 0; i < count.expr.value(); ++i) {
    state.code.assign(*statement.targets.front(), AbstractValue::of_int(i));
    once_more(state, statement.body);
  }
}

void repeat(Interpretation& state, const Statement& statement) {
  for (std::int64_t i = 0;; ++i) {
    const AbstractValue condition = state.code.evaluate(*statement.value);
    const auto truth = known_truth(condition);
    if (!truth) return DynamicLoop(state, statement, {}, condition).run();
    if (!*truth) return;
    if (i > kMaxRuns) refuse("a loop of more than 100,000 runs");
    once_more(state, statement.body);
  }
}

}  // namespace

void follow_loop(Interpretation& state, const Statement& statement) {
  return statement.kind == Statement::Kind::kFor ? count_up(state, statement)
                                                 : repeat(state, statement);
}

}  // namespace sardonyx::torchscript

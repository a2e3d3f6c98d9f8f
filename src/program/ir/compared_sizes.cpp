#include "program/ir/compared_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace sardonyx::program {
namespace {

using symbolic::Expr;
using symbolic::Kind;

struct Comparison {
  std::string_view name;
  Kind kind;
  bool swapped;
};

constexpr Comparison kComparisons[] = {
    {"gt", Kind::kLt, true},    {"ge", Kind::kLe, true},  {"lt", Kind::kLt, false},
    {"le", Kind::kLe, false},   {"eq", Kind::kEq, false}, {"ne", Kind::kNe, false},
    {"and", Kind::kAnd, false}, {"or", Kind::kOr, false}, {"not", Kind::kNot, false},
};

// The operands; nothing where one is no number, or all are constants.
std::optional<std::vector<Expr>> numbers(const Call& call) {
  std::vector<Expr> operands;
  for (const Argument& argument : call.arguments) {
    if (const bool* truth = argument.get<bool>()) {
      operands.emplace_back(*truth ? 1 : 0);
    } else if (const Expr* number = argument.get<Expr>()) {
      operands.push_back(*number);
    } else {
      return std::nullopt;
    }
  }
  if (std::ranges::all_of(operands, &Expr::is_constant)) return std::nullopt;
  return operands;
}

// Whether the two are one number for a few sizes of their symbols.
bool agree(Expr a, Expr b) {
  constexpr std::int64_t kLeast = 2, kMost = 40, kApart = 7;
  std::vector<Expr> symbols = symbolic::symbols_of(a);
  for (const Expr each : symbolic::symbols_of(b))
    if (std::ranges::find(symbols, each) == symbols.end()) symbols.push_back(each);
  for (std::int64_t size = kLeast; size < kMost; ++size) {
    std::vector<symbolic::Binding> values;
    for (const Expr symbol : symbols)
      values.push_back({symbol, size + kApart * static_cast<std::int64_t>(values.size())});
    const auto of_a = symbolic::evaluate(a, values), of_b = symbolic::evaluate(b, values);
    if (of_a && of_b && *of_a != *of_b) return false;
  }
  return true;
}

}  // namespace

void restore_comparison(const Call& call, symbolic::Pool& pool, Value& result) {
  if (result.kind != ValueKind::kBool || !result.expr.is_constant() || !call.schema ||
      call.schema->space() != "sym")
    return;
  const std::string_view name = call.schema->base_name();
  const auto found = std::ranges::find(kComparisons, name, &Comparison::name);
  if (found == std::end(kComparisons)) return;
  std::optional<std::vector<Expr>> operands = numbers(call);
  if (!operands) return;
  if (found->swapped) std::ranges::reverse(*operands);
  const Expr made = pool.make(found->kind, *operands);
  if (made.known()) result.expr = made;
}

void restore_extremum(const Call& call, symbolic::Pool& pool, Value& result) {
  if (result.kind != ValueKind::kInt || !call.schema || call.schema->space() != "sym") return;
  const std::string_view name = call.schema->base_name();
  if (name != "max" && name != "min") return;
  const std::optional<std::vector<Expr>> operands = numbers(call);
  if (!operands ||
      std::ranges::any_of(*operands, [](Expr e) { return !e.known() || e.is_float(); }))
    return;
  const Expr made = pool.make(name == "max" ? Kind::kMax : Kind::kMin, *operands);
  if (made.known()) result.expr = made;
}

void check_quotient(const Call& call, symbolic::Pool& pool, const Value& result) {
  if (!call.schema || call.schema->space() != "sym" || call.schema->base_name() != "floordiv" ||
      !result.expr.known())
    return;
  const std::optional<std::vector<Expr>> operands = numbers(call);
  if (!operands || operands->size() != 2) return;
  const auto divisor = operands->back().constant();
  if (!divisor || *divisor >= 0) return;
  const Expr made = pool.make(Kind::kFloorDiv, *operands);
  if (!made.known() || made == result.expr || agree(made, result.expr)) return;
  base::fail(
      "SX1205",
      fmt::format("PyTorch took {} for ({}) // {}, and sizes that depend on it are wrong",
                  result.expr.str(), operands->front().str(), *divisor),
      "export the module itself, or divide by a positive number: -((n + 3) // 4) is n // -4");
}

}  // namespace sardonyx::program

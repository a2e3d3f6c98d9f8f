#include "program/ir/compared_sizes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

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

}  // namespace sardonyx::program

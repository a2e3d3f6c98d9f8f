#include "program/inference/sampled_results.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace sardonyx::program {
namespace {

using symbolic::Binding;
using symbolic::Expr;
using Bindings = std::vector<Binding>;
using Answer = std::vector<SizedTensor>;

// The sizes that a call's arguments speak of, each once.
class Spoken {
 public:
  explicit Spoken(const std::vector<Argument>& arguments) {
    for (const Argument& argument : arguments) add(argument);
  }

  const std::vector<Expr>& sizes() const { return sizes_; }

  std::vector<Expr> symbols() const {
    std::vector<Expr> symbols;
    for (const Expr size : sizes_) {
      for (const Expr symbol : symbolic::symbols_of(size)) add_once(symbols, symbol);
    }
    return symbols;
  }

 private:
  static void add_once(std::vector<Expr>& all, Expr one) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }

  void add(const Argument& argument) {
    if (const Expr* expr = argument.get<Expr>()) add_once(sizes_, *expr);
    if (const List* list = argument.get<List>())
      for (const Argument& item : *list) add(item);
    if (const Value* tensor = tensor_of(argument))
      for (const Expr size : tensor->shape) add_once(sizes_, size);
  }

  std::vector<Expr> sizes_;
};

// Sizes to ask at: primes, so that no size is another by chance; once as they rise, once as they
// fall, lest the smaller of two is always the same one; and small ones, below what a limit may be.
std::vector<Bindings> trials(const std::vector<Expr>& symbols) {
  constexpr std::array<std::int64_t, 16> kLarge = {1009, 1061, 1117, 1181, 1237, 1297, 1361, 1423,
                                                   1483, 1543, 1607, 1667, 1733, 1801, 1871, 1933};
  constexpr std::array<std::int64_t, 16> kSmall = {7,  11, 13, 17, 19, 23, 29, 31,
                                                   37, 41, 43, 47, 53, 59, 61, 67};
  if (symbols.empty()) return {{}};
  std::vector<Bindings> all(3);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const std::size_t place = i % kLarge.size(), from_end = kLarge.size() - 1 - place;
    all[0].push_back({symbols[i], kLarge[place]});
    all[1].push_back({symbols[i], kLarge[from_end]});
    all[2].push_back({symbols[i], kSmall[place]});
  }
  return all;
}

bool is_alike(const Answer& one, const Answer& other) {
  return std::ranges::equal(one, other, [](const SizedTensor& a, const SizedTensor& b) {
    return a.dtype == b.dtype && a.sizes.size() == b.sizes.size();
  });
}

// What was asked, and what came of it.
struct Asked {
  std::vector<Bindings> sizes;
  std::vector<Answer> answers;  // one for each

  std::vector<std::int64_t> dimension(std::size_t tensor, std::size_t axis) const {
    std::vector<std::int64_t> seen;
    for (const Answer& answer : answers) seen.push_back(answer[tensor].sizes[axis]);
    return seen;
  }

  bool is_always(Expr size, const std::vector<std::int64_t>& seen) const {
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (symbolic::evaluate(size, sizes[i]) != seen[i]) return false;
    return true;
  }
};

Expr expression_of(const Asked& asked, const std::vector<Expr>& sizes,
                   const std::vector<std::int64_t>& seen, symbolic::Pool& pool) {
  const bool is_one_number = std::ranges::all_of(seen, [&](auto n) { return n == seen.front(); });
  if (is_one_number) return Expr(seen.front());
  for (const Expr size : sizes)
    for (const Expr one : {size, size - 1, size + 1})
      if (asked.is_always(one, seen)) return one;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = i; j < sizes.size(); ++j) {
      for (const Expr both : {sizes[i] + sizes[j], sizes[i] * sizes[j],
                              symbolic::min(sizes[i], sizes[j]), symbolic::max(sizes[i], sizes[j])})
        if (asked.is_always(both, seen)) return both;
    }
  }
  const Expr fresh = pool.fresh("u");
  pool.mark_unbacked(fresh);
  return fresh;
}

}  // namespace

std::optional<std::vector<TensorType>> asked_results(const OperatorSource& source,
                                                     const Schema& schema,
                                                     const std::vector<Argument>& arguments,
                                                     symbolic::Pool& pool) {
  const Spoken spoken(arguments);
  Asked asked;
  std::vector<Bindings> all = trials(spoken.symbols());
  const std::size_t needed = std::min<std::size_t>(all.size(), 2);
  for (Bindings& sizes : all) {
    std::optional<Answer> answer = source.results(schema, arguments, sizes);
    if (!answer) continue;
    if (!asked.answers.empty() && !is_alike(asked.answers.front(), *answer)) return std::nullopt;
    asked.sizes.push_back(std::move(sizes));
    asked.answers.push_back(std::move(*answer));
  }
  if (asked.answers.size() < needed) return std::nullopt;
  std::vector<TensorType> results;
  for (std::size_t i = 0; i < asked.answers.front().size(); ++i) {
    TensorType result;
    result.dtype = asked.answers.front()[i].dtype;
    for (std::size_t axis = 0; axis < asked.answers.front()[i].sizes.size(); ++axis)
      result.shape.push_back(expression_of(asked, spoken.sizes(), asked.dimension(i, axis), pool));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace sardonyx::program

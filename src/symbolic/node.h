// What an Expr points at, and the pool that interns it. Internal to src/symbolic.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbolic/expr.h"

namespace sardonyx::symbolic {

enum class Type : std::uint8_t { kInt, kFloat, kBool };

// Expressions beyond these bounds become unknown, so that every recursive walk is bounded in stack
// and time whatever the program holds. Real programs stay below a hundredth of them.
inline constexpr std::uint32_t kMaxDepth = 256;
inline constexpr std::uint32_t kMaxSize = 10'000;

struct Node {
  std::uint64_t hash = 0;
  Pool::Impl* pool = nullptr;
  const Expr* operands = nullptr;
  std::uint32_t operand_count = 0;
  std::uint32_t size = 1;  // nodes of the expression written out as a tree
  std::uint32_t depth = 1;
  Kind kind = Kind::kUnknown;
  Type type = Type::kInt;
  bool has_mod = false;  // a sum with a kMod among its terms

  // An integer node is a term: coefficient * monomial, where the monomial is a product of powers of
  // atoms without coefficient. An atom is its own monomial.
  std::int64_t coefficient = 1;
  const Node* monomial = nullptr;
  std::int64_t degree = 1;

  double real = 0;
  std::string_view name;             // of symbols and functions
  mutable std::string_view display;  // of symbols: what the user called it
  mutable bool is_unbacked = false;  // of symbols: depends on data
  mutable Range range;               // of symbols: what is known; of others: a cache
  mutable std::uint32_t range_epoch = 0;

  std::span<const Expr> arguments() const { return {operands, operand_count}; }
};

struct Pool::Impl {
  Impl();

  // Node handles. Pool is a friend of Expr; free functions are not.
  static Expr wrap(const Node* node) { return Expr(node); }

  Expr symbol(std::string_view name, Type type, Range presumed);
  Expr real(double value);
  // The node of exactly these parts; unknown when it would pass the size bounds.
  Expr intern(Kind kind, Type type, std::span<const Expr> operands, std::string_view name = {});
  Expr intern(Kind kind, Type type, std::initializer_list<Expr> operands);
  // coefficient * monomial.
  Expr term(std::int64_t coefficient, const Node* monomial);

  void constrain(const Node* symbol, Range range);
  void rename(const Node* symbol, std::string_view name);
  Expr fresh(std::string_view prefix);

  // Results of recent binary operations. Programs repeat the same few.
  struct Remembered {
    Kind kind = Kind::kUnknown;
    Expr a, b, result;
  };
  Remembered& remembered(Kind kind, Expr a, Expr b);

  // Texts that were read, and what they said: a program repeats a handful of sizes on every value.
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, Expr, TextHash, std::equal_to<>> texts;

  std::vector<const Node*> symbols;
  std::uint32_t epoch = 1;  // counts changes of ranges

 private:
  struct Parts;
  const Node** slot(const Parts& parts);
  Expr add(const Node** slot, const Parts& parts);
  void grow();
  std::string_view keep(std::string_view text);
  std::string_view unused_display(std::string_view wanted);

  std::pmr::monotonic_buffer_resource memory_;
  std::vector<const Node*> table_;
  std::size_t count_ = 0;
  std::set<std::string, std::less<>> displays_;
  std::set<const Node*> constrained_;
  std::array<Remembered, 1024> remembered_;
};

// The pool of the first operand that has one; null when all are constants (or unknown).
Pool::Impl* pool_of(std::span<const Expr> operands);
inline Pool::Impl* pool_of(Expr a) { return a.is_constant() ? nullptr : a.node()->pool; }
inline Pool::Impl* pool_of(Expr a, Expr b) {
  Pool::Impl* pool = pool_of(a);
  return pool ? pool : pool_of(b);
}

Type type_of(Expr e);

// A total order that depends on structure and names alone, never on addresses or on the order of
// creation: two front ends that build the same program in different orders get the same text.
// Negative, zero, positive as a stands before, with or after b.
enum class Names : std::uint8_t { kOwn, kDisplayed };
int structural_order(Expr a, Expr b, Names names = Names::kOwn);

// Monomials by degree, higher first, then lexicographically: an admissible monomial order.
int monomial_order(const Node* a, const Node* b, Names names = Names::kOwn);

// A monomial as powers of atoms, ascending by structural_order.
struct Factor {
  const Node* atom;
  std::int64_t exponent;
};
Factor factor_of(const Node* node);
std::size_t factor_count(const Node* monomial);
Factor factor_at(const Node* monomial, std::size_t index);

// torch.export calls the symbols of floats zf0 and zuf0, and says nothing else of the latter.
inline bool names_float(std::string_view symbol) {
  return symbol.starts_with("zf") || symbol.starts_with("zuf");
}

}  // namespace sardonyx::symbolic

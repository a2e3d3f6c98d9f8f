// A small language for what a rule looks for: a tree of operators over named values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "onnx/gen/op.h"
#include "onnx/graph/ir.h"
#include "rewriting/rule_context.h"

namespace sardonyx::rewriting {

//   enum { kX, kEpsilon };  // what is found, by number
//   constexpr auto kRoot =
//       op(Op::kSqrt, op(Op::kAdd, number(kEpsilon),
//                        op(Op::kReduceMean, over_last_axis, square(any(kX)), any(kAxes))));
//   ...
//   if (const auto found = match(kRoot, root, context)) ... (*found)[kX], found->real(kEpsilon)
//
// - Operands of Add, Mul, Max, Min and Sum match in any order; three or more of them stand for any
//   nesting: op(Op::kMul, any(kX), is_number(0.5), p) finds (x * p) * 0.5 and x * (0.5 * p).
// - A value that is named twice must be the same value both times.
// - Nodes that are found must be read by each other alone, or they would be computed twice: where
//   one is read elsewhere, the rule declines with that reason. shared(p) may be read by anybody.
// - Patterns are constants: nothing is allocated to try one.
namespace pattern {

using ValueTest = bool (*)(const onnx::ValueInfo*);
using NodeTest = bool (*)(const onnx::Node*);

struct Term {
  enum class Kind : std::uint8_t { kAny, kNumber, kNone, kOp, kEither, kOptional };
  Kind kind = Kind::kAny;
  onnx::Op op = onnx::kUnknownOp;
  std::int8_t slot = -1;      // the name of the value, if it has one
  bool shared = false;        // readers elsewhere do no harm
  std::uint8_t operands = 0;  // those of an operator, or alternatives
  std::uint16_t size = 1;     // terms from this one to the end of its operands
  std::optional<double> number = {};
  ValueTest value_holds = nullptr;
  NodeTest node_holds = nullptr;
};

// Each term is followed by those of its operands.
template <std::size_t N>
struct Pattern {
  std::array<Term, N> terms;
};

inline constexpr std::size_t kMaxOperands = 6;

template <std::size_t... N>
constexpr auto tree(Term root, const Pattern<N>&... operands) {
  static_assert(sizeof...(N) <= kMaxOperands);
  Pattern<(N + ... + 1)> made{};
  root.operands = sizeof...(N);
  root.size = made.terms.size();
  made.terms[0] = root;
  auto at = made.terms.begin() + 1;
  ((at = std::copy(operands.terms.begin(), operands.terms.end(), at)), ...);
  return made;
}

// Any value, or one of which this holds.
constexpr Pattern<1> any(int slot, ValueTest holds = nullptr) {
  return {{Term{.slot = static_cast<std::int8_t>(slot), .value_holds = holds}}};
}
// A constant of one element, and one of this value, as exactly as its type has it.
constexpr Pattern<1> number(int slot) {
  return {{Term{.kind = Term::Kind::kNumber, .slot = static_cast<std::int8_t>(slot)}}};
}
constexpr Pattern<1> is_number(double value) {
  return {{Term{.kind = Term::Kind::kNumber, .number = value}}};
}
// An optional input that is not there.
constexpr Pattern<1> none() { return {{Term{.kind = Term::Kind::kNone}}}; }

// The first output of a node of ONNX's own that has these inputs and no others.
template <std::size_t... N>
constexpr auto op(onnx::Op op, const Pattern<N>&... operands) {
  return tree({.kind = Term::Kind::kOp, .op = op}, operands...);
}
template <std::size_t... N>
constexpr auto op(onnx::Op op, NodeTest holds, const Pattern<N>&... operands) {
  return tree({.kind = Term::Kind::kOp, .op = op, .node_holds = holds}, operands...);
}

// The first of these that fits.
template <std::size_t... N>
constexpr auto either(const Pattern<N>&... alternatives) {
  return tree({.kind = Term::Kind::kEither}, alternatives...);
}
// The same with or without this operator of one input behind it.
template <std::size_t N>
constexpr auto optional(onnx::Op op, const Pattern<N>& operand) {
  return tree({.kind = Term::Kind::kOptional, .op = op}, operand);
}

// What `operand` stands for, with a name; and the same where others may read it, too.
template <std::size_t N>
constexpr auto as(int slot, Pattern<N> operand) {
  operand.terms[0].slot = static_cast<std::int8_t>(slot);
  return operand;
}
template <std::size_t N>
constexpr auto shared(Pattern<N> operand) {
  operand.terms[0].shared = true;
  return operand;
}

}  // namespace pattern

class Match {
 public:
  static constexpr std::size_t kMaxSlots = 16, kMaxNodes = 48;

  // Null for what was optional and is not there.
  onnx::ValueInfo* operator[](int slot) const { return values_[static_cast<std::size_t>(slot)]; }
  // The node that made it.
  onnx::Node* node(int slot) const { return (*this)[slot]->producer; }
  double real(int slot) const;  // of a number

 private:
  friend class Matcher;
  std::array<onnx::ValueInfo*, kMaxSlots> values_{};
};

// The value of a constant of one element.
std::optional<double> number_of(const onnx::ValueInfo* value);

std::optional<Match> match(std::span<const pattern::Term> terms, onnx::Node* root,
                           RuleContext& context);

template <std::size_t N>
std::optional<Match> match(const pattern::Pattern<N>& pattern, onnx::Node* root,
                           RuleContext& context) {
  return match(std::span<const pattern::Term>(pattern.terms), root, context);
}

}  // namespace sardonyx::rewriting

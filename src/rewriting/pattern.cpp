#include "rewriting/pattern.h"

#include <fmt/format.h>

#include <cmath>

namespace sardonyx::rewriting {

using onnx::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using pattern::Term;

namespace {

bool is_commutative(Op op) {
  return op == Op::kAdd || op == Op::kMul || op == Op::kMax || op == Op::kMin || op == Op::kSum;
}

// How far from a number a constant may be that was written for it: a few roundings of its type.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 1e-14;
    case DType::kFloat16:
      return 1e-3;
    case DType::kBFloat16:
      return 8e-3;
    default:
      return 5e-7;
  }
}

bool is_near(const ValueInfo* value, double wanted) {
  const std::optional<double> found = number_of(value);
  return found && std::abs(*found - wanted) <= std::abs(wanted) * tolerance(value->dtype);
}

// Operand i of a term, by skipping those before it.
const Term* operand(const Term* term, std::size_t i) {
  const Term* at = term + 1;
  for (; i > 0; --i) at += at->size;
  return at;
}

}  // namespace

// What is still to be found, in a list that lives on the stack: when a choice turns out wrong
// further on, the search comes back to it.
struct Goal {
  const Term* term;
  ValueInfo* value;
  const Goal* next;
  // Where `value` is to be the product (sum, ...) of some operands of the term: which ones.
  unsigned among = 0;
};

class Matcher {
 public:
  explicit Matcher(const Node* root) : root_(root) {}

  bool solve(const Goal* goal) {
    if (goal == nullptr) return nothing_is_read_elsewhere();
    if (goal->among != 0) return solve_nested(*goal);
    const int slot = goal->term->slot;
    if (slot < 0) return solve_term(*goal);
    ValueInfo*& named = match_.values_[static_cast<std::size_t>(slot)];
    if (named != nullptr) return named == goal->value && solve_term(*goal);
    named = goal->value;
    if (solve_term(*goal)) return true;
    named = nullptr;
    return false;
  }

  const Match& found() const { return match_; }
  // What would have been found, were it not for its other readers.
  const ValueInfo* read_elsewhere() const { return read_elsewhere_; }

 private:
  struct Found {
    const Node* node;
    bool shared;
  };

  bool solve_term(const Goal& goal) {
    const Term& term = *goal.term;
    const ValueInfo* const value = goal.value;
    switch (term.kind) {
      case Term::Kind::kNone:
        return value == nullptr && solve(goal.next);
      case Term::Kind::kAny:
        return value != nullptr && (term.value_holds == nullptr || term.value_holds(value)) &&
               solve(goal.next);
      case Term::Kind::kNumber:
        return (term.number ? is_near(value, *term.number) : number_of(value).has_value()) &&
               solve(goal.next);
      case Term::Kind::kOp:
        return solve_op(goal);
      case Term::Kind::kEither:
        return solve_either(goal);
      case Term::Kind::kOptional:
        return solve_optional(goal);
    }
    return false;
  }

  bool solve_either(const Goal& goal) {
    for (std::size_t i = 0; i < goal.term->operands; ++i) {
      const Goal one = {operand(goal.term, i), goal.value, goal.next};
      if (solve(&one)) return true;
    }
    return false;
  }

  bool solve_optional(const Goal& goal) {
    const Term* const behind = operand(goal.term, 0);
    if (const Node* node = enter(goal.value, *goal.term)) {
      const Goal with = {behind, node->input(0), goal.next};
      if (solve(&with)) return true;
      --count_;
    }
    const Goal without = {behind, goal.value, goal.next};
    return solve(&without);
  }

  bool solve_op(const Goal& goal) {
    const Term& term = *goal.term;
    const Node* const node = enter(goal.value, term);
    if (node == nullptr) return false;
    const bool fits = (term.node_holds == nullptr || term.node_holds(node)) &&
                      (is_commutative(term.op) && term.operands > 1
                           ? solve_split(goal, *node, (1U << term.operands) - 1)
                           : solve_inputs(goal, *node));
    if (!fits) --count_;
    return fits;
  }

  bool solve_inputs(const Goal& goal, const Node& node) {
    const std::size_t count = goal.term->operands;
    for (std::size_t i = count; i < node.inputs.size(); ++i)
      if (node.inputs[i] != nullptr) return false;
    std::array<Goal, pattern::kMaxOperands> goals{};
    for (std::size_t i = 0; i < count; ++i)
      goals[i] = {operand(goal.term, i), node.input(i), i + 1 < count ? &goals[i + 1] : goal.next};
    return solve(count == 0 ? goal.next : goals.data());
  }

  // The operands in every way of giving some of them to the one input and the rest to the other.
  bool solve_split(const Goal& goal, const Node& node, unsigned among) {
    if (node.inputs.size() != 2) return false;
    for (unsigned left = (among - 1) & among; left != 0; left = (left - 1) & among) {
      const Goal second = {goal.term, node.inputs[0], goal.next, left};
      const Goal first = {goal.term, node.inputs[1], &second, among & ~left};
      if (solve(&first)) return true;
      if (node.inputs[0] == node.inputs[1] && (among & (among - 1)) == 0) break;
    }
    return false;
  }

  bool solve_nested(const Goal& goal) {
    for (std::size_t i = 0; i < goal.term->operands; ++i) {
      if (goal.among != 1U << i) continue;
      const Goal one = {operand(goal.term, i), goal.value, goal.next};
      return solve(&one);
    }
    const Node* const node = enter(goal.value, *goal.term);
    if (node == nullptr) return false;
    if (solve_split(goal, *node, goal.among)) return true;
    --count_;
    return false;
  }

  // The node that made the value, when it is the term's operator; it then belongs to the match.
  const Node* enter(const ValueInfo* value, const Term& term) {
    const Node* const node = value == nullptr ? nullptr : value->producer;
    if (node == nullptr || node->op != term.op || value->index != 0 ||
        node->graph != root_->graph || count_ == nodes_.size())
      return nullptr;
    nodes_[count_++] = {node, term.shared};
    return node;
  }

  bool has(const Node* node) const {
    const auto end = nodes_.begin() + static_cast<std::ptrdiff_t>(count_);
    return std::any_of(nodes_.begin(), end, [&](const Found& f) { return f.node == node; });
  }

  bool is_read_elsewhere(const ValueInfo* value) const {
    if (!value->returns.empty() || value->is_pinned) return true;
    return std::ranges::any_of(value->uses,
                               [this](const onnx::Use& use) { return !has(use.node); });
  }

  bool nothing_is_read_elsewhere() {
    for (std::size_t i = 0; i < count_; ++i) {
      const auto& [node, shared] = nodes_[i];
      if (node == root_ || shared) continue;
      for (const ValueInfo* output : node->outputs) {
        if (output == nullptr || !is_read_elsewhere(output)) continue;
        if (read_elsewhere_ == nullptr) read_elsewhere_ = output;
        return false;
      }
    }
    return true;
  }

  const Node* root_;
  Match match_;
  std::array<Found, Match::kMaxNodes> nodes_{};
  std::size_t count_ = 0;
  const ValueInfo* read_elsewhere_ = nullptr;
};

std::optional<double> number_of(const ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr || value->constant->element_count() != 1)
    return std::nullopt;
  const auto reals = value->constant->reals();
  return reals && !reals->empty() ? std::optional(reals->front()) : std::nullopt;
}

double Match::real(int slot) const { return number_of((*this)[slot]).value(); }

std::optional<Match> match(std::span<const Term> terms, Node* root, RuleContext& context) {
  const Term& first = terms.front();
  if (first.kind == Term::Kind::kOp && root->op != first.op) return std::nullopt;
  if (root->outputs.empty()) return std::nullopt;
  Matcher matcher(root);
  const Goal goal = {&first, root->output(), nullptr};
  if (matcher.solve(&goal)) return matcher.found();
  if (const ValueInfo* value = matcher.read_elsewhere())
    context.decline(root, fmt::format("'{}' is read elsewhere, too", value->name));
  return std::nullopt;
}

}  // namespace sardonyx::rewriting

// Branches: the one that is decided, or both, as bodies of one call.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "frontends/torchscript/control_flow/merge.h"
#include "frontends/torchscript/recording/body.h"
#include "frontends/torchscript/recording/interpretation.h"

namespace sardonyx::torchscript {

class Branches {
 public:
  explicit Branches(Interpretation& state) : state_(state) {}

  void follow(const Statement& statement);
  // A branch that leaves tensors of different ranks: what stands behind it in its block is followed
  // in either side of it.
  void follow_to_the_end(const Statement& statement, const AbstractValue& condition,
                         std::span<const Statement> rest);
  // The statements, to the end of their block, for either answer to a condition on sizes.
  void follow_by_size(symbolic::Expr condition, std::span<const Statement> statements);
  // The result of one of two functions, chosen by data. Their ranks may differ. Neither changes a
  // variable or a container.
  AbstractValue either(const AbstractValue& condition, const std::function<AbstractValue()>& first,
                       const std::function<AbstractValue()>& second);

 private:
  void follow_both(const Statement& statement, const AbstractValue& condition,
                   const Statement* last);
  void follow_assuming(Body& body, const std::vector<Statement>& block,
                       const AbstractValue& condition, bool truth);
  Variables merge_variables(Merge& merge, const Body& taken, const Body& other,
                            const Statement& end);
  // What containers hold after the branches.
  using Contents = std::vector<std::pair<std::shared_ptr<Container>, Container>>;
  static Contents merge_contents(Merge& merge, const Body& taken, const Body& other);
  void mark_possible_aliases(const Statement& statement, const Merge& merge);

  Interpretation& state_;
  int tails_ = 0;  // branches around it that hold all that stands behind them
};

}  // namespace sardonyx::torchscript

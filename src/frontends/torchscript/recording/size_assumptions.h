// What is assumed of sizes in the branches that are followed, and before which statement each size
// is known.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::torchscript {

class SizeAssumptions {
 public:
  // `branches`: where a size decides the rank of a tensor, the program is followed for either
  // answer; otherwise the axis is kept.
  explicit SizeAssumptions(bool branches) : branches_(branches) {}

  // A statement that is followed, and the graph as it was before.
  struct Level {
    const program::Graph* graph;
    std::size_t calls;
  };
  // A level of statements, while it lives.
  class Followed {
   public:
    Followed(SizeAssumptions& sizes, Level level) : levels_(sizes.levels_) {
      levels_.push_back(level);
    }
    ~Followed() { levels_.pop_back(); }
    Followed(const Followed&) = delete;
    Followed& operator=(const Followed&) = delete;

   private:
    std::vector<Level>& levels_;
  };
  // Innermost last.
  const std::vector<Level>& levels() const { return levels_; }

  // While it lives, statements around the current one are followed for either answer already.
  class Branched {
   public:
    explicit Branched(SizeAssumptions& sizes)
        : sizes_(sizes), outer_(std::exchange(sizes.first_level_, sizes.levels_.size())) {}
    ~Branched() { sizes_.first_level_ = outer_; }
    Branched(const Branched&) = delete;
    Branched& operator=(const Branched&) = delete;

   private:
    SizeAssumptions& sizes_;
    std::size_t outer_;
  };

  // While it lives, the condition holds, or does not. An unknown one assumes nothing.
  class Assumed {
   public:
    Assumed(SizeAssumptions& sizes, symbolic::Expr condition, bool truth)
        : assumed_(sizes.assumed_), before_(assumed_.size()) {
      if (condition.known()) assumed_.emplace_back(condition, truth);
    }
    ~Assumed() { assumed_.resize(before_); }
    Assumed(const Assumed&) = delete;
    Assumed& operator=(const Assumed&) = delete;

   private:
    std::vector<std::pair<symbolic::Expr, bool>>& assumed_;
    std::size_t before_;
  };

  // Nothing where neither the size nor the branch that is followed tells.
  std::optional<bool> is_one(symbolic::Expr size) const;
  // A size decides the rank of a tensor. Gives the outermost statement that is followed once and
  // before which the size is known; nothing where none is, and the axis is to be kept.
  std::optional<std::size_t> decide_rank(symbolic::Expr size);

  bool branches() const { return branches_; }
  // Whether a size has decided the rank of a tensor.
  bool decided_a_rank() const { return decided_a_rank_; }

 private:
  const bool branches_;
  bool decided_a_rank_ = false;
  std::vector<Level> levels_;
  // The first of them that is not yet followed for either answer of a branch.
  std::size_t first_level_ = 0;
  std::vector<std::pair<symbolic::Expr, bool>> assumed_;
};

symbolic::Expr equals_one(symbolic::Expr size);

}  // namespace sardonyx::torchscript

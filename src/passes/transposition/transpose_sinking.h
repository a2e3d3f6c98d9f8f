// Nodes on operands whose axes stand in another order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "onnx/graph/ir.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {

// Axis i of a transposed tensor is axis perm[i] of what it is made of.
using Perm = std::vector<std::int64_t>;

// The permutation of a Transpose of a tensor of known rank; nothing where it is none.
std::optional<Perm> perm_of(const onnx::Node* node);
// First one, then the other.
Perm joined(const Perm& first, const Perm& second);
bool changes_nothing(const Perm& perm);
// Of a node that takes axes of a transposed tensor away, those axes of what is transposed, where
// the others stand in the order that they had; nothing for any other node.
std::optional<std::vector<std::int64_t>> lost_axes(const onnx::Node* node, const Perm& perm);
// Whether axes of size 1 alone change places, so that all elements stay where they are.
bool moves_no_element(const onnx::ValueInfo* transposed, const Perm& perm);

// A node that gives Transpose<perm>(z) for operands Transpose<perm>(x) could compute z from x:
// which inputs are such operands, and what the others and the attributes become.
struct Transposed {
  enum class Input : std::uint8_t { kOperand, kSame, kConstant, kNumbers };
  struct Other {
    Input kind = Input::kSame;
    std::vector<std::int64_t> numbers = {};  // of kNumbers
  };
  std::vector<Other> inputs;
  std::vector<onnx::Attribute> attributes;
};

// Nothing where the node does not treat all axes alike, or depends on values of run time.
// `is_operand` says of an input whether it can be had untransposed.
std::optional<Transposed> transposed(const onnx::Node* node, const Perm& perm,
                                     const std::function<bool(const onnx::ValueInfo*)>& is_operand);

// Puts the node on `operands`, one for each of its inputs that is one (null for the others), and
// the transposition behind it. Nothing changes where that cannot be.
bool put_behind(onnx::Node* node, const Perm& perm, const Transposed& how,
                const std::vector<onnx::ValueInfo*>& operands, rewriting::RuleContext& context);

}  // namespace sardonyx::passes

// What normalisations are written out of: means of squares, and what is divided by their root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rewriting/pattern.h"

namespace sardonyx::passes {

// The attributes and scale that LayerNormalization and RMSNormalization have in common.
struct Normalized {
  std::int64_t axis;  // the first of those normalised over, from the end
  float epsilon;
  onnx::Tensor ones;  // a scale that changes nothing
};

// Of x, by this ReduceMean; where it is none of the composites', declines with the reason.
std::optional<Normalized> normalized(const onnx::ValueInfo* x, const onnx::Node* mean,
                                     double epsilon, onnx::Node* root,
                                     rewriting::RuleContext& context);

namespace form {

using namespace rewriting::pattern;
using onnx::Op;

inline bool keeps_axes(const onnx::Node* reduction) {
  return reduction->int_or("keepdims", 1) != 0;
}

template <std::size_t N>
constexpr auto square(const Pattern<N>& x) {
  return either(op(Op::kMul, x, x), op(Op::kPow, x, is_number(2)));
}

template <std::size_t N, std::size_t M>
constexpr auto mean(const Pattern<N>& x, const Pattern<M>& axes) {
  return op(Op::kReduceMean, keeps_axes, x, axes);
}

// x / sqrt(variance)
template <std::size_t N, std::size_t M>
constexpr auto over_root(const Pattern<N>& x, const Pattern<M>& variance) {
  const auto root = either(op(Op::kSqrt, variance), op(Op::kPow, variance, is_number(0.5)));
  return either(op(Op::kDiv, x, root),
                op(Op::kMul, x,
                   either(op(Op::kReciprocal, root), op(Op::kDiv, is_number(1), root),
                          op(Op::kPow, variance, is_number(-0.5)))));
}

}  // namespace form
}  // namespace sardonyx::passes

// What normalizations are written out of: means of squares, and what is divided by their root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rewriting/pattern.h"

namespace sardonyx::passes {

// The attributes and scale that LayerNormalization and RMSNormalization have in common.
struct Normalized {
  std::int64_t axis;  // the first of those normalized over, from the end
  float epsilon;
  onnx::ValueInfo* scale;
};

// Of x, by this ReduceMean, and by this scale: ones where it is null. Where it is none of the
// composites', declines with the reason.
std::optional<Normalized> normalized(const onnx::ValueInfo* x, const onnx::Node* mean,
                                     double epsilon, onnx::ValueInfo* scale, onnx::Node* root,
                                     rewriting::RuleContext& context);

// Whether the means of x are taken over the same axes, which one may count from the end.
bool same_axes(const onnx::ValueInfo* x, const onnx::ValueInfo* a, const onnx::ValueInfo* b);

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

template <std::size_t N>
constexpr auto root_of(const Pattern<N>& variance) {
  return either(op(Op::kSqrt, variance), op(Op::kPow, variance, is_number(0.5)));
}

template <std::size_t N>
constexpr auto inverse_root(const Pattern<N>& variance) {
  return either(op(Op::kReciprocal, root_of(variance)),
                op(Op::kDiv, is_number(1), root_of(variance)),
                op(Op::kPow, variance, is_number(-0.5)));
}

// x / sqrt(variance)
template <std::size_t N, std::size_t M>
constexpr auto over_root(const Pattern<N>& x, const Pattern<M>& variance) {
  return either(op(Op::kDiv, x, root_of(variance)), op(Op::kMul, x, inverse_root(variance)));
}

// scale * x / sqrt(variance), where the scale comes first or second
template <std::size_t S, std::size_t N, std::size_t M>
constexpr auto scaled_over_root(const Pattern<S>& scale, const Pattern<N>& x,
                                const Pattern<M>& variance) {
  return either(op(Op::kDiv, op(Op::kMul, scale, x), root_of(variance)),
                op(Op::kMul, op(Op::kMul, scale, x), inverse_root(variance)),
                op(Op::kMul, x, op(Op::kMul, scale, inverse_root(variance))));
}

}  // namespace form
}  // namespace sardonyx::passes

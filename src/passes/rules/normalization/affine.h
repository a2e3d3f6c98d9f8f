// What stands behind a normalization, and how it fits.
#pragma once

#include <algorithm>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

inline bool is_splat(const onnx::ValueInfo* value, double with) {
  if (value->constant == nullptr) return false;
  const auto reals = value->constant->reals();
  return reals && std::ranges::all_of(*reals, [=](double real) { return real == with; });
}
inline bool is_ones(const onnx::ValueInfo* value) { return is_splat(value, 1); }
inline bool is_zeros(const onnx::ValueInfo* value) { return is_splat(value, 0); }

// As rules write it where there is no scale. A weight of ones may yet get other data.
inline bool is_no_scale(const onnx::ValueInfo* value) {
  return !value->is_weight && is_ones(value);
}

// Both are of these very sizes, as far as is known.
inline bool same_dims(const onnx::ValueInfo* a, const onnx::ValueInfo* b) {
  return a->has_rank && b->has_rank && a->shape.size() == b->shape.size() &&
         std::ranges::equal(a->shape, b->shape, [](symbolic::Expr i, symbolic::Expr j) {
           return i.known() && j.known() && i == j;
         });
}

}  // namespace sardonyx::passes

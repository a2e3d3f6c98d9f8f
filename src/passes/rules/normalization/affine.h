// What stands behind a normalisation, and how it fits.
#pragma once

#include <algorithm>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

inline bool is_ones(const onnx::ValueInfo* value) {
  if (value->constant == nullptr) return false;
  const auto reals = value->constant->reals();
  return reals && std::ranges::all_of(*reals, [](double real) { return real == 1; });
}

// Both are of these very sizes, as far as is known.
inline bool same_dims(const onnx::ValueInfo* a, const onnx::ValueInfo* b) {
  return a->has_rank && b->has_rank && a->shape.size() == b->shape.size() &&
         std::ranges::equal(a->shape, b->shape, [](symbolic::Expr i, symbolic::Expr j) {
           return i.known() && j.known() && i == j;
         });
}

}  // namespace sardonyx::passes

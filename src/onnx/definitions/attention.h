// Attention spelt out: softmax(query key^T * scale + mask) value.
#pragma once

#include <functional>
#include <optional>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

struct AttentionForm {
  Value query, key, value;           // [..., heads, length, size]; or without heads
  Value mask = {};                   // bool, or numbers that are added to the scores; absent: none
  Value seen_by_place = {};          // bool [L, S]; absent: every key is seen
  std::optional<double> scale = {};  // 1 / sqrt(size) where it is not given
  double softcap = 0;
  bool grouped = false;  // groups of query heads share a key head
  DType softmax_type = DType::kUndefined;
  std::function<Value(Value)> on_weights = {};  // dropout
};

struct Attended {
  Value result;
  Value scores;  // before their softmax
};

// A query that may see nothing gives zero.
Attended attend(Emit& onnx, const AttentionForm& form);

// Whether a mask of numbers may have -infinity in it, as far as its making tells.
bool may_hold_minus_infinity(const ValueInfo* mask);

// True [L, S] where key j <= query i.
Value causal_mask(Emit& onnx, Expr queries, Expr keys);

}  // namespace sardonyx::onnx

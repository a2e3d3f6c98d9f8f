// Attention decomposed: softmax(query key^T * scale + mask) value.
#pragma once

#include <functional>
#include <limits>
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
  bool zeroes_weights = false;  // of rows that see nothing, and not their results alone
};

struct Attended {
  Value result;
  Value scores;             // before their softmax
  Value products, limited;  // query key^T * scale; with the soft cap
  Value weights;  // after the softmax; NaN in rows that see nothing, but for zeroes_weights
};

// A query that may see nothing gives zero.
Attended attend(Emit& onnx, const AttentionForm& form);

// Whether a mask of numbers may have this one in it, as far as its making tells.
bool may_hold(const ValueInfo* mask, double number);
inline bool may_hold_minus_infinity(const ValueInfo* mask) {
  return may_hold(mask, -std::numeric_limits<double>::infinity());
}

// True [L, S] where key j <= query i.
Value causal_mask(Emit& onnx, Expr queries, Expr keys);

// Attention with sinks: each head has a logit of its own beside the scores of each row, which
// takes its share of the softmax and gives nothing. Attention says it as one more key:
//     Attention(q, Pad(k), Pad(v), Add(Pad(mask), Pad(sinks)))
// where zeros stand behind keys and values, the mask has 0 for the last key, and the sinks stand in
// the last column of zeros.
struct WithSinks {
  ValueInfo *key, *value;  // [batch, heads, length, size], as they were
  ValueInfo* mask;         // numbers; null where all keys are seen
  ValueInfo* sinks;        // [1, heads, 1, 1]
};

// What an Attention was made of; all null where it has no sinks.
WithSinks sinks_of(const Node* attention);

// The sinks in a mask, null where there are none: with them no row is hidden as a whole.
ValueInfo* sinks_in(const ValueInfo* mask);

}  // namespace sardonyx::onnx

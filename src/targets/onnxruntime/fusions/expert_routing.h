// Which experts the rows of a mixture of experts go to, as transformers routes them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "onnx/graph/ir.h"

namespace sardonyx::targets {

// What is cast between floating types, before that.
onnx::ValueInfo* without_casts(onnx::ValueInfo* value);

// Whether it is a constant of these integers.
bool holds(const onnx::ValueInfo* value, std::initializer_list<std::int64_t> numbers);

// Copies of the rows of x, `each` of every one, sorted by their experts.
struct SortedRows {
  const onnx::ValueInfo* order = nullptr;    // where they were before, int64 [rows]
  const onnx::ValueInfo* experts = nullptr;  // int64 [rows]
  std::int64_t each = 0;
};

struct RoutedRows {
  SortedRows sorted;
  onnx::ValueInfo* rows = nullptr;    // before they are weighted, in their sorted order
  onnx::ValueInfo* logits = nullptr;  // [tokens, experts]
  bool normalizes = false;            // the weights of a token add up to 1
};

// Of rows that are weighted by the scores of their experts and put back into their order.
std::optional<RoutedRows> routed_rows(onnx::ValueInfo* value);

// Whether these are the counts of each expert's rows, and 0 for what is behind.
bool counts_rows(const onnx::ValueInfo* counts, const SortedRows& sorted, std::int64_t experts);

// What the sorted rows are copies of; null where they are something else.
onnx::ValueInfo* unsorted_rows(onnx::ValueInfo* rows, const SortedRows& sorted);

}  // namespace sardonyx::targets

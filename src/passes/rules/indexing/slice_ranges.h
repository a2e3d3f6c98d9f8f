// What a Slice by constants takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// From `start` up to `end`, every `step`th, as Slice says it: below zero from the back. Where the
// size of the axis is known, both are places from 0 to it.
struct SliceRange {
  std::int64_t axis, start, end, step = 1;
};

// An end that takes everything.
inline constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

// Of every axis that the Slice names, in its order; nothing where a place or the rank is not known,
// or a step goes backwards.
std::optional<std::vector<SliceRange>> slice_ranges_of(const onnx::Node* slice);

// How many elements a range takes of an axis of this size.
std::int64_t length_of(const SliceRange& range, std::int64_t size);

// With places from 0 to `size`.
SliceRange placed(SliceRange range, std::int64_t size);

}  // namespace sardonyx::passes

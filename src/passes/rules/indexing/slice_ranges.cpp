#include "passes/rules/indexing/slice_ranges.h"

#include <algorithm>

#include "onnx/graph/value.h"

namespace sardonyx::passes {
namespace {

using Ints = std::vector<std::int64_t>;
using onnx::Node;
using onnx::ValueInfo;

std::optional<Ints> ints_of(ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr) return std::nullopt;
  return onnx::Value(value).ints();
}

// Ends that exporters write for "everything" are the same number.
std::int64_t end_of(std::int64_t end) {
  return end >= std::numeric_limits<std::int32_t>::max() ? kToTheEnd : end;
}

}  // namespace

SliceRange placed(SliceRange range, std::int64_t size) {
  const auto place = [size](std::int64_t at) {
    return std::clamp(at < 0 ? at + size : at, std::int64_t{0}, size);
  };
  range.start = place(range.start);
  range.end = place(range.end);
  return range;
}

std::int64_t length_of(const SliceRange& range, std::int64_t size) {
  const SliceRange at = placed(range, size);
  return at.end <= at.start ? 0 : (at.end - at.start - 1) / at.step + 1;
}

std::optional<std::vector<SliceRange>> slice_ranges_of(const Node* slice) {
  const ValueInfo* x = slice->input(0);
  const auto starts = ints_of(slice->input(1)), ends = ints_of(slice->input(2));
  if (x == nullptr || !x->has_rank || !starts || !ends) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x->shape.size());
  Ints axes, steps(starts->size(), 1);
  if (slice->input(3) != nullptr) {
    const auto given = ints_of(slice->input(3));
    if (!given) return std::nullopt;
    axes = *given;
  } else {
    for (std::size_t i = 0; i < starts->size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (slice->input(4) != nullptr) {
    const auto given = ints_of(slice->input(4));
    if (!given) return std::nullopt;
    steps = *given;
  }
  if (ends->size() != starts->size() || axes.size() != starts->size() ||
      steps.size() != starts->size())
    return std::nullopt;

  std::vector<SliceRange> ranges;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || steps[i] < 1) return std::nullopt;
    const SliceRange range{axis, (*starts)[i], end_of((*ends)[i]), steps[i]};
    const symbolic::Expr size = x->shape[static_cast<std::size_t>(axis)];
    ranges.push_back(size.known() && size.is_constant() ? placed(range, size.value()) : range);
  }
  return ranges;
}

}  // namespace sardonyx::passes

#include "passes/rules/indexing/data_movement.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "onnx/gen/op.h"
#include "passes/constant_ints.h"
#include "passes/rules/indexing/slice_ranges.h"

namespace sardonyx::passes {
namespace {

using Ints = std::vector<std::int64_t>;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;
constexpr std::int64_t kMaxUnits = 65536;
constexpr std::size_t kMaxNodes = 64;

// The elements before an axis of a sample, its size, and the elements of each of its places.
struct Along {
  std::int64_t outer, size, inner;
};

Along along(const Ints& sizes, std::size_t axis) {
  Along there{1, sizes[axis], 1};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (i != axis) (i < axis ? there.outer : there.inner) *= sizes[i];
  return there;
}

Along along(const ValueInfo* value, std::size_t axis) {
  return along(*sizes_of_sample(value), axis);
}

// The number of elements of a sample; nothing where sizes_of_sample() has none.
std::optional<std::int64_t> known_elements_of_sample(const ValueInfo* value) {
  if (value == nullptr || !value->has_rank || value->shape.size() < 2 || value->is_disputed ||
      !value->shape[0].known())
    return std::nullopt;
  std::int64_t product = 1;
  for (const symbolic::Expr& size : std::span(value->shape).subspan(1)) {
    if (!size.known() || !size.is_constant() || size.value() < 1 ||
        size.value() > kMaxElements / product)
      return std::nullopt;
    product *= size.value();
  }
  return product;
}

bool has_samples_of(const ValueInfo* value, const ValueInfo* other) {
  return known_elements_of_sample(value) && known_elements_of_sample(other) &&
         value->shape[0] == other->shape[0];
}

// An axis within samples; nothing where it is the one of the samples themselves.
std::optional<std::size_t> axis_within(const Node* node, std::string_view attribute) {
  const auto rank = static_cast<std::int64_t>(node->input(0)->shape.size());
  std::int64_t axis = node->int_or(attribute, 0);
  if (axis < 0) axis += rank;
  if (axis < 1 || axis >= rank) return std::nullopt;
  return static_cast<std::size_t>(axis - 1);
}

// Cuts of a Slice that leaves the samples as they are.
std::optional<std::vector<SliceRange>> slice_ranges_within(const Node* slice) {
  auto ranges = slice_ranges_of(slice);
  if (!ranges ||
      std::ranges::any_of(*ranges, [](const SliceRange& range) { return range.axis == 0; }))
    return std::nullopt;
  return ranges;
}

// The last axis that does not stay where it is.
std::optional<std::size_t> last_turned(const Ints& perm) {
  for (std::size_t i = perm.size(); i-- > 1;)
    if (perm[i] != static_cast<std::int64_t>(i)) return i - 1;
  return std::nullopt;
}

bool picks_rows(const Node* gather) {
  const ValueInfo* places = gather->input(1);
  return axis_within(gather, "axis") && constant_ints(places) && places->has_rank &&
         places->shape.size() == 1;
}

std::span<ValueInfo* const> moved_by(const Node* node) {
  return std::span(node->inputs).first(node->is(Op::kConcat) ? node->inputs.size() : 1);
}

// How long the runs of elements are that the node leaves as they are.
std::int64_t unit_of(const Node* node) {
  const ValueInfo* x = node->input(0);
  Ints sizes = *sizes_of_sample(x);
  std::int64_t unit = 0;
  if (node->is(Op::kTranspose)) {
    const auto axis = last_turned(*node->ints("perm"));
    if (axis) unit = along(sizes, *axis).inner;
  } else if (node->is(Op::kConcat) || node->is(Op::kSplit)) {
    const std::size_t axis = *axis_within(node, "axis");
    for (const ValueInfo* part : node->is(Op::kConcat) ? node->inputs : node->outputs) {
      const Along there = along(part, axis);
      unit = std::gcd(unit, there.size * there.inner);
    }
  } else if (node->is(Op::kGather)) {
    unit = along(sizes, *axis_within(node, "axis")).inner;
  } else if (node->is(Op::kSlice)) {
    const auto ranges = slice_ranges_within(node);
    for (const SliceRange& range : *ranges) {
      const auto axis = static_cast<std::size_t>(range.axis - 1);
      const Along there = along(sizes, axis);
      for (const std::int64_t place : {range.start, range.end, there.size})
        unit = std::gcd(unit, place * there.inner);
      if (range.step != 1) unit = std::gcd(unit, there.inner);
      sizes[axis] = length_of(range, there.size);
    }
  }
  return unit;
}

// Of each row, the units from one to another.
Ints cut_out(const Ints& units, std::int64_t row, std::int64_t start, std::int64_t end) {
  Ints out;
  for (auto at = units.begin(); at != units.end(); at += row)
    out.insert(out.end(), at + start, at + end);
  return out;
}

Ints picked(const Ints& units, std::int64_t size, std::int64_t inner, const Ints& places) {
  Ints out;
  for (auto at = units.begin(); at != units.end(); at += size * inner)
    for (const std::int64_t place : places)
      out.insert(out.end(), at + place * inner, at + (place + 1) * inner);
  return out;
}

Ints turned(const Ints& units, const Ints& sizes, const Ints& perm, std::int64_t unit) {
  const auto last = last_turned(perm);
  if (!last) return units;
  const std::int64_t inner = along(sizes, *last).inner / unit;
  // Steps in the source along each axis of what comes out.
  Ints steps(*last + 1), counts(*last + 1), at(*last + 1, 0);
  for (std::size_t i = 0; i <= *last; ++i) {
    const auto from = static_cast<std::size_t>(perm[i + 1] - 1);
    counts[i] = sizes[from];
    steps[i] = along(sizes, from).inner / unit;
  }
  Ints out;
  out.reserve(units.size());
  std::int64_t place = 0;
  while (out.size() < units.size()) {
    out.insert(out.end(), units.begin() + place, units.begin() + place + inner);
    for (std::size_t axis = *last + 1; axis-- > 0;) {
      place += steps[axis];
      if (++at[axis] < counts[axis]) break;
      place -= steps[axis] * counts[axis];
      at[axis] = 0;
    }
  }
  return out;
}

Ints sliced(Ints units, const Node* slice, std::int64_t unit) {
  Ints sizes = *sizes_of_sample(slice->input(0));
  const auto ranges = slice_ranges_within(slice);
  for (const SliceRange& range : *ranges) {
    const auto axis = static_cast<std::size_t>(range.axis - 1);
    const Along there = along(sizes, axis);
    const std::int64_t row = there.size * there.inner / unit;
    if (range.step == 1) {
      units = cut_out(units, row, range.start * there.inner / unit, range.end * there.inner / unit);
    } else {
      Ints places;
      for (std::int64_t at = range.start; at < range.end; at += range.step) places.push_back(at);
      units = picked(units, there.size, there.inner / unit, places);
    }
    sizes[axis] = length_of(range, there.size);
  }
  return units;
}

class Units {
 public:
  Units(const ValueInfo* source, std::int64_t unit) : unit_(unit) {
    Ints& all = of_[source];
    all.resize(static_cast<std::size_t>(elements_of_sample(source) / unit));
    std::iota(all.begin(), all.end(), std::int64_t{0});
  }

  const Ints& of(const ValueInfo* value) const { return of_.at(value); }

  void move(const Node* node) {
    const ValueInfo *x = node->input(0), *y = node->outputs[0];
    const Ints sizes = *sizes_of_sample(x);
    if (node->is(Op::kConcat)) {
      of_[y] = joined(node);
    } else if (node->is(Op::kSplit)) {
      part(node);
    } else if (node->is(Op::kTranspose)) {
      of_[y] = turned(of(x), sizes, *node->ints("perm"), unit_);
    } else if (node->is(Op::kSlice)) {
      of_[y] = sliced(of(x), node, unit_);
    } else if (node->is(Op::kGather)) {
      const Along there = along(sizes, *axis_within(node, "axis"));
      Ints places = *constant_ints(node->input(1));
      for (std::int64_t& place : places) place += place < 0 ? there.size : 0;
      of_[y] = picked(of(x), there.size, there.inner / unit_, places);
    } else {
      of_[y] = of(x);
    }
  }

 private:
  Ints joined(const Node* concat) const {
    const std::size_t axis = *axis_within(concat, "axis");
    const std::int64_t rows = along(concat->input(0), axis).outer;
    Ints out;
    for (std::int64_t row = 0; row < rows; ++row)
      for (const ValueInfo* each : concat->inputs) {
        const Ints& units = of(each);
        const auto length = static_cast<std::int64_t>(units.size()) / rows;
        out.insert(out.end(), units.begin() + row * length, units.begin() + (row + 1) * length);
      }
    return out;
  }

  void part(const Node* split) {
    const std::size_t axis = *axis_within(split, "axis");
    const Along whole = along(split->input(0), axis);
    std::int64_t start = 0;
    for (const ValueInfo* each : split->outputs) {
      const Along there = along(each, axis);
      const std::int64_t end = start + there.size * there.inner / unit_;
      of_[each] = cut_out(of(split->input(0)), whole.size * whole.inner / unit_, start, end);
      start = end;
    }
  }

  std::int64_t unit_;
  std::map<const ValueInfo*, Ints> of_;
};

// Nodes that make the value of `source`, which stays null where there are none; false where it is
// made of several.
bool collect(ValueInfo* value, Movement& movement) {
  Node* const node = value->producer;
  if (node == nullptr || !moves_rows(node)) {
    if (movement.source == nullptr) movement.source = value;
    return movement.source == value;
  }
  if (std::ranges::find(movement.nodes, node) != movement.nodes.end()) return true;
  if (movement.nodes.size() == kMaxNodes) return false;
  for (ValueInfo* x : moved_by(node))
    if (x->graph != value->graph || !collect(x, movement)) return false;
  movement.nodes.push_back(node);
  return true;
}

}  // namespace

std::optional<std::vector<std::int64_t>> sizes_of_sample(const ValueInfo* value) {
  if (!known_elements_of_sample(value)) return std::nullopt;
  Ints sizes;
  for (const symbolic::Expr& size : std::span(value->shape).subspan(1))
    sizes.push_back(size.value());
  return sizes;
}

std::int64_t elements_of_sample(const ValueInfo* value) {
  return known_elements_of_sample(value).value();
}

bool moves_rows(const Node* node) {
  if (!node->domain.empty() || node->outputs.empty() || node->inputs.empty()) return false;
  const bool one_input = node->is(Op::kReshape) || node->is(Op::kTranspose) ||
                         node->is(Op::kSlice) || node->is(Op::kGather);
  if (!one_input && !node->is(Op::kConcat) && !node->is(Op::kSplit)) return false;
  const ValueInfo* x = node->input(0);
  const auto as_x = [x](const ValueInfo* value) { return has_samples_of(value, x); };
  if (!std::ranges::all_of(node->outputs, as_x) || !std::ranges::all_of(moved_by(node), as_x))
    return false;
  if (node->is(Op::kReshape)) return elements_of_sample(x) == elements_of_sample(node->output());
  if (node->is(Op::kTranspose)) {
    const auto* perm = node->ints("perm");
    return perm != nullptr && perm->size() == x->shape.size() && perm->front() == 0;
  }
  if (node->is(Op::kSlice)) return slice_ranges_within(node).has_value();
  if (node->is(Op::kGather)) return picks_rows(node);
  return axis_within(node, "axis").has_value();
}

std::optional<Movement> movement_to(ValueInfo* value) {
  Movement movement;
  if (!collect(value, movement) || movement.nodes.empty()) return std::nullopt;
  const ValueInfo* source = movement.source;
  if (!has_samples_of(source, value)) return std::nullopt;
  std::int64_t unit = std::gcd(elements_of_sample(source), elements_of_sample(value));
  for (const Node* node : movement.nodes) unit = std::gcd(unit, unit_of(node));
  if (elements_of_sample(source) / unit > kMaxUnits || elements_of_sample(value) / unit > kMaxUnits)
    return std::nullopt;
  movement.unit = unit;
  Units units(source, unit);
  for (const Node* node : movement.nodes) units.move(node);
  movement.places = units.of(value);
  return movement;
}

}  // namespace sardonyx::passes

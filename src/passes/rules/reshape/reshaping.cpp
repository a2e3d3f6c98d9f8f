#include "passes/rules/reshape/reshaping.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sardonyx::passes {
namespace {

using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;
using rewriting::Patch;
using symbolic::Expr;

constexpr std::int64_t kCopied = 0, kInferred = -1;

// A size of each axis: a number, kCopied or kInferred; absent where it has to be read off.
std::vector<std::optional<std::int64_t>> entries_of(const Shape& from, const Shape& to) {
  std::vector<std::optional<std::int64_t>> entries;
  std::optional<std::size_t> open;
  bool others_positive = true;
  for (std::size_t i = 0; i < to.size(); ++i) {
    entries.emplace_back();
    if (to[i].is_constant()) {
      entries.back() = to[i].value();
    } else if (i < from.size() && from[i] == to[i]) {
      entries.back() = kCopied;
      others_positive = others_positive && symbolic::certainly_positive(to[i]);
    } else {
      others_positive = others_positive && (!open || symbolic::certainly_positive(to[*open]));
      open = i;
    }
  }
  // Beside an axis of no elements nothing follows.
  if (open && others_positive) entries[*open] = kInferred;
  return entries;
}

// The size of an axis of `x`, as int64 [1].
ValueInfo* read_off(Patch& patch, ValueInfo* x, Expr size) {
  const auto axis = std::ranges::find(x->shape, size);
  if (axis == x->shape.end()) return nullptr;
  const auto at = static_cast<std::int64_t>(axis - x->shape.begin());
  return patch.node(Op::kShape, {x}, {{"start", at, {}}, {"end", at + 1, {}}}, x->name + "_Shape");
}

// As int64 [rank]; null where a size is nowhere to be read.
ValueInfo* target_of(Patch& patch, ValueInfo* x, const Shape& to) {
  const auto entries = entries_of(x->shape, to);
  std::vector<ValueInfo*> parts;
  std::vector<std::int64_t> numbers;
  const auto close = [&] {
    if (!numbers.empty()) parts.push_back(patch.ints(numbers));
    numbers.clear();
  };
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (entries[i]) {
      numbers.push_back(*entries[i]);
      continue;
    }
    close();
    parts.push_back(read_off(patch, x, to[i]));
    if (parts.back() == nullptr) return nullptr;
  }
  if (parts.empty()) return patch.ints(numbers);
  close();
  return patch.node(Op::kConcat, parts, {{"axis", std::int64_t{0}, {}}}, x->name + "_Concat");
}

// The axes of size 1 that `longer` has more than `shorter`.
std::optional<std::vector<std::int64_t>> axes_more(const Shape& longer, const Shape& shorter) {
  std::vector<std::int64_t> axes;
  std::size_t next = 0;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    if (next < shorter.size() && longer[i] == shorter[next]) {
      ++next;
    } else if (longer[i].is(1)) {
      axes.push_back(static_cast<std::int64_t>(i));
    } else {
      return std::nullopt;
    }
  }
  if (next < shorter.size()) return std::nullopt;
  return axes;
}

}  // namespace

bool has_known_sizes(const ValueInfo* value) {
  return value != nullptr && value->has_rank &&
         std::ranges::all_of(value->shape, [](Expr dim) { return dim.known() && !dim.is(0); });
}

ValueInfo* reshaped(Patch& patch, ValueInfo* x, const Shape& to, std::string_view name) {
  if (std::ranges::equal(x->shape, to)) return x;
  if (const auto added = axes_more(to, x->shape))
    return patch.node(Op::kUnsqueeze, {x, patch.ints(*added)}, {}, name);
  if (const auto dropped = axes_more(x->shape, to))
    return patch.node(Op::kSqueeze, {x, patch.ints(*dropped)}, {}, name);
  ValueInfo* const target = target_of(patch, x, to);
  if (target == nullptr) return nullptr;
  ValueInfo* const y = patch.node(Op::kReshape, {x, target}, {}, name);
  if (y != nullptr) y->shape = to;
  return y;
}

std::optional<std::vector<std::size_t>> axes_in_each(const Shape& joined, const Shape& parted) {
  std::vector<std::size_t> counts;
  std::size_t next = 0;
  for (const Expr whole : joined) {
    const std::size_t first = next;
    for (Expr product = 1; !(product == whole); ++next) {
      if (next == parted.size()) return std::nullopt;
      product = product * parted[next];
    }
    counts.push_back(next - first);
  }
  for (; next < parted.size(); ++next) {
    if (!parted[next].is(1) || counts.empty()) return std::nullopt;
    ++counts.back();
  }
  return counts;
}

}  // namespace sardonyx::passes

#include "passes/former_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sardonyx::passes {
namespace {

using Renamed = std::pair<std::string_view, std::string_view>;

constexpr std::array kRenamed = std::to_array<Renamed>({
    {"bound-before-casting", "clip-before-cast"},
    {"choose-known", "fold-constant-where"},
    {"choose-without-not", "where-of-not"},
    {"distance-back", "negated-min-to-max"},
    {"drop-neutral", "neutral-element"},
    {"drop-open-mask", "eliminate-all-true-mask"},
    {"drop-repeated", "idempotent"},
    {"emit-anew", "canonicalize"},
    {"give-attention-its-cache", "fuse-kv-cache"},
    {"hoist-from-loops", "loop-invariant-code-motion"},
    {"index-by-ranges", "gather-nd-to-slice"},
    {"index-rows-by-ranges", "gather-rows-to-slice"},
    {"join-attention-heads", "merge-attention-heads"},
    {"join-clips", "merge-clips"},
    {"join-concats", "merge-concats"},
    {"join-factors", "merge-scale-factors"},
    {"join-pads", "merge-pads"},
    {"join-reshapes", "merge-reshapes"},
    {"join-slices", "merge-slices"},
    {"join-transposes", "merge-transposes"},
    {"join-transposes-round-reshape", "merge-transposes-across-reshape"},
    {"join-views", "merge-views"},
    {"let-readers-broadcast", "sink-broadcast"},
    {"lose-axes-before-transposing", "reduce-before-transpose"},
    {"move-transposes", "propagate-transposes"},
    {"narrow-normalization", "normalize-in-half"},
    {"part-attention-heads", "split-attention-heads"},
    {"part-heads-from-batches", "split-heads-from-batches"},
    {"rotate-joined-heads", "rotate-merged-heads"},
    {"slice-one-part", "slice-of-concat"},
    {"spell-cast-like", "decompose-cast-like"},
    {"spell-negation", "decompose-negation"},
    {"split-slices", "slices-to-split"},
    {"take-from-list", "sequence-at-of-list"},
    {"take-from-split", "sequence-at-of-split"},
    {"transpose-without-new-axes", "drop-unit-axes-around-transpose"},
});

}  // namespace

std::string_view current_name(std::string_view name) {
  const auto* found = std::ranges::find(kRenamed, name, &Renamed::first);
  return found == kRenamed.end() ? name : found->second;
}

std::vector<std::string> current_names(std::vector<std::string> names) {
  for (std::string& name : names) name = std::string(current_name(name));
  return names;
}

}  // namespace sardonyx::passes

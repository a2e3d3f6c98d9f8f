#include "passes/rules/padding/padding.h"

#include "passes/constant_ints.h"

namespace sardonyx::passes {
namespace {

using Ints = std::vector<std::int64_t>;
using onnx::Node;
using onnx::ValueInfo;

}  // namespace

std::optional<Ints> padding_of(const Node* pad) {
  const ValueInfo* x = pad->input(0);
  const auto widths = constant_ints(pad->input(1));
  if (x == nullptr || !x->has_rank || !widths) return std::nullopt;
  const std::size_t rank = x->shape.size();
  Ints axes;
  if (pad->input(3) != nullptr) {
    const auto given = constant_ints(pad->input(3));
    if (!given) return std::nullopt;
    axes = *given;
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (widths->size() != 2 * axes.size()) return std::nullopt;
  Ints all(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis =
        static_cast<std::size_t>(axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(rank) : axes[i]);
    if (axis >= rank) return std::nullopt;
    all[axis] = (*widths)[i];
    all[rank + axis] = (*widths)[axes.size() + i];
  }
  return all;
}

std::optional<double> fill_of(const Node* pad) {
  if (pad->string_or("mode", "constant") != "constant") return std::nullopt;
  const ValueInfo* value = pad->input(2);
  if (value == nullptr) return 0;
  if (value->constant == nullptr) return std::nullopt;
  const auto reals = value->constant->reals();
  if (!reals || reals->size() != 1) return std::nullopt;
  return reals->front();
}

std::optional<Ints> image_padding_of(const Node* pad) {
  const auto all = padding_of(pad);
  if (!all) return std::nullopt;
  const std::size_t rank = all->size() / 2;
  Ints images;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const std::int64_t width = (*all)[i];
    if (width < 0 || (i % rank < 2 && width != 0)) return std::nullopt;
    if (i % rank >= 2) images.push_back(width);
  }
  if (images.empty()) return std::nullopt;
  return images;
}

std::optional<Ints> with_own_pads(const Node* node, Ints pads) {
  const Ints* own = node->ints("pads");
  if (own == nullptr) return pads;
  if (own->size() != pads.size()) return std::nullopt;
  for (std::size_t i = 0; i < own->size(); ++i) pads[i] += (*own)[i];
  return pads;
}

}  // namespace sardonyx::passes

// Before: y = Conv<pads = p>(Pad<constant>(x, [0, 0, top, left, 0, 0, bottom, right]), weight,
// bias) After:  y = Conv<pads = p + [top, left, bottom, right]>(x, weight, bias)
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "passes/rewrite.h"
#include "passes/rules.h"

namespace sardonyx::passes {
namespace {

using Ints = std::vector<std::int64_t>;
using onnx::Node;
using onnx::ValueInfo;

std::optional<Ints> ints_of(const ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr) return std::nullopt;
  return value->constant->ints();
}

bool pads_with_zero(const Node* pad) {
  if (pad->string_or("mode", "constant") != "constant") return false;
  const ValueInfo* value = pad->input(2);
  if (value == nullptr) return true;
  if (value->constant == nullptr) return false;
  const auto reals = value->constant->reals();
  return reals && reals->size() == 1 && reals->front() == 0;
}

// The pads of every axis, begins then ends, as Pad without axes has them.
std::optional<Ints> pads_of(const Node* pad, std::size_t rank) {
  const auto pads = ints_of(pad->input(1));
  if (!pads) return std::nullopt;
  Ints axes;
  if (pad->input(3) != nullptr) {
    const auto given = ints_of(pad->input(3));
    if (!given) return std::nullopt;
    axes = *given;
  } else {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (pads->size() != 2 * axes.size()) return std::nullopt;
  Ints all(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis =
        static_cast<std::size_t>(axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(rank) : axes[i]);
    if (axis >= rank) return std::nullopt;
    all[axis] = (*pads)[i];
    all[rank + axis] = (*pads)[axes.size() + i];
  }
  return all;
}

// Of the spatial axes, begins then ends; nothing where others are padded, or an axis is cut.
std::optional<Ints> spatial(const Ints& pads, std::size_t rank) {
  Ints result;
  for (std::size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0 || (i % rank < 2 && pads[i] != 0)) return std::nullopt;
    if (i % rank >= 2) result.push_back(pads[i]);
  }
  return result;
}

bool fold(Node* conv) {
  if (!conv->is("Conv") || conv->string_or("auto_pad", "NOTSET") != "NOTSET") return false;
  const Node* pad = made_by(conv->input(0), "Pad");
  if (pad == nullptr || pad->graph != conv->graph || !pads_with_zero(pad)) return false;
  ValueInfo* const x = pad->input(0);
  if (!x->has_rank || x->shape.size() < 3) return false;
  const std::size_t rank = x->shape.size();
  const auto pads = pads_of(pad, rank);
  auto all = pads ? spatial(*pads, rank) : std::nullopt;
  if (!all) return false;
  if (const Ints* own = conv->ints("pads")) {
    if (own->size() != all->size()) return false;
    for (std::size_t i = 0; i < own->size(); ++i) (*all)[i] += (*own)[i];
  }
  onnx::set_attribute(conv, "pads", std::move(*all));
  onnx::set_input(conv, 0, x);
  return true;
}

}  // namespace

bool fold_pad(onnx::Model& model) {
  // Before opset 11 the pads were an attribute.
  if (opset_of(model) < 11) return false;
  const bool changed = each_node(model.graph, fold);
  if (changed) drop_unused_nodes(model);
  return changed;
}

}  // namespace sardonyx::passes

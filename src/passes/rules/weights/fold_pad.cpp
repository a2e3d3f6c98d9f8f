// Before: y = Conv<pads = p>(Pad<constant>(x, [0, 0, top, left, 0, 0, bottom, right]), weight,
// bias) After:  y = Conv<pads = p + [top, left, bottom, right]>(x, weight, bias)
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using Ints = std::vector<std::int64_t>;
using onnx::Node;
using onnx::Op;
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

bool fold(Node* conv, RuleContext& context) {
  const Node* pad = made_by(conv->input(0), Op::kPad);
  if (pad == nullptr) return false;
  if (pad->graph != conv->graph) return context.decline(conv, "the Pad stands in another graph");
  if (conv->string_or("auto_pad", "NOTSET") != "NOTSET")
    return context.decline(conv, "it finds its pads itself (auto_pad)");
  if (!pads_with_zero(pad)) return context.decline(conv, "the Pad does not fill with zeros");
  ValueInfo* const x = pad->input(0);
  if (x == nullptr || !x->has_rank || x->shape.size() < 3)
    return context.decline(conv, "the rank of what is padded is not known");
  const std::size_t rank = x->shape.size();
  const auto pads = pads_of(pad, rank);
  auto all = pads ? spatial(*pads, rank) : std::nullopt;
  if (!all)
    return context.decline(conv, "the Pad is not of constant sizes, or not of images alone");
  if (const Ints* own = conv->ints("pads")) {
    if (own->size() != all->size()) return false;
    for (std::size_t i = 0; i < own->size(); ++i) (*all)[i] += (*own)[i];
  }
  Patch patch(context, conv);
  patch.set_attribute(conv, "pads", std::move(*all));
  patch.set_input(conv, 0, x);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kConv};

}  // namespace

// Before opset 11 the pads were an attribute of Pad.
const Rule kFoldPad = {"fold-pad", kRoots, fold, 11};

}  // namespace sardonyx::passes

// Padding by a constant, by reflection, by repetition of the edge, and around.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// PyTorch lists (before, after) from the last axis backwards; ONNX all befores, then all afters.
struct Pads {
  std::vector<Expr> before, after;  // one for each axis
};

Pads pads_of(const Call& call, std::string_view name, std::int64_t rank) {
  const std::vector<Expr> listed = call.sizes(name);
  Pads pads{std::vector<Expr>(static_cast<std::size_t>(rank), Expr(0)),
            std::vector<Expr>(static_cast<std::size_t>(rank), Expr(0))};
  for (std::size_t i = 0; i + 1 < listed.size(); i += 2) {
    const std::size_t axis = static_cast<std::size_t>(rank) - 1 - i / 2;
    pads.before[axis] = listed[i];
    pads.after[axis] = listed[i + 1];
  }
  return pads;
}

bool negative(Expr size) { return size.is_constant() && size.value() < 0; }

// Negative padding cuts elements off; what is left of the pads is not negative.
Value cropped(Emit& onnx, Value x, const Pads& pads) {
  for (std::size_t i = 0; i < pads.before.size(); ++i) {
    if (!negative(pads.before[i]) && !negative(pads.after[i])) continue;
    const auto axis = static_cast<std::int64_t>(i);
    const Expr start = negative(pads.before[i]) ? -pads.before[i] : Expr(0);
    const Expr end = x.dim(axis) + (negative(pads.after[i]) ? pads.after[i] : Expr(0));
    x = onnx.slice(x, axis, start, end);
  }
  return x;
}

Pads without_negative(Pads pads) {
  for (std::vector<Expr>* side : {&pads.before, &pads.after}) {
    for (Expr& size : *side) {
      if (negative(size)) size = 0;
    }
  }
  return pads;
}

// What is cut off on one side may still be reflected or repeated on the other: padding comes first.
Value padded(Emit& onnx, Value x, const Pads& pads, std::string_view mode, Value fill) {
  const Pads added = without_negative(pads);
  std::vector<Expr> all = added.before;
  all.insert(all.end(), added.after.begin(), added.after.end());
  const bool any = std::ranges::any_of(all, [](Expr size) { return !size.is(0); });
  return cropped(onnx, any ? onnx.pad(x, onnx.sizes(all), fill, {}, {.mode = mode}) : x, pads);
}

// Around each axis come the elements from its other end, of those that are not cut off.
Value circular(Emit& onnx, Value x, const Pads& wanted) {
  x = cropped(onnx, x, wanted);
  const Pads pads = without_negative(wanted);
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < pads.before.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    const Expr size = x.dim(axis);
    std::vector<Value> parts;
    if (!pads.before[i].is(0)) {
      const auto before = pads.before[i].constant();
      parts.push_back(onnx.slice(x, axis, before ? Expr(-*before) : size - pads.before[i], kEnd));
    }
    parts.push_back(x);
    if (!pads.after[i].is(0)) parts.push_back(onnx.slice(x, axis, 0, pads.after[i]));
    if (parts.size() > 1) x = onnx.concat(parts, axis);
  }
  return x;
}

Value by_constant(const Call& call, Emit& onnx, const Pads& pads, const Scalar& value) {
  const Value self = call.tensor("self");
  return padded(onnx, self, pads, "constant", scalar_value(onnx, value, self.dtype()));
}

Outputs constant_pad_nd(const Call& call, Emit& onnx) {
  const Pads pads = pads_of(call, "pad", call.tensor("self").rank());
  return {by_constant(call, onnx, pads, call.scalar("value"))};
}

Outputs pad_by(const Call& call, Emit& onnx, std::string_view mode) {
  const Value self = call.tensor("self");
  const Pads pads = pads_of(call, "pad", self.rank());
  if (mode == "constant") {
    return {by_constant(call, onnx, pads, call.optional_scalar("value").value_or(Scalar(0)))};
  }
  if (mode == "reflect") return {padded(onnx, self, pads, "reflect", {})};
  if (mode == "replicate") return {padded(onnx, self, pads, "edge", {})};
  if (mode == "circular") return {circular(onnx, self, pads)};
  call.refuse(fmt::format("padding mode {}", mode));
}

Outputs pad(const Call& call, Emit& onnx) { return pad_by(call, onnx, call.text("mode")); }

Outputs pad_enum(const Call& call, Emit& onnx) {
  constexpr std::array<std::string_view, 4> kModes = {"reflect", "replicate", "circular",
                                                      "constant"};
  const std::int64_t mode = call.integer("mode");
  if (mode < 0 || mode > 3) call.refuse(fmt::format("padding mode {}", mode));
  return pad_by(call, onnx, kModes[static_cast<std::size_t>(mode)]);
}

Outputs reflection_pad(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {padded(onnx, self, pads_of(call, "padding", self.rank()), "reflect", {})};
}

Outputs replication_pad(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {padded(onnx, self, pads_of(call, "padding", self.rank()), "edge", {})};
}

Outputs pad_circular(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {circular(onnx, self, pads_of(call, "pad", self.rank()))};
}

constexpr Row kRows[] = {
    {"aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor", pad_circular},
    {"aten::_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor", pad_enum},
    {"aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", constant_pad_nd},
    {"aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor",
     pad},
    {"aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor", reflection_pad},
    {"aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor", reflection_pad},
    {"aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor", reflection_pad},
    {"aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor", replication_pad},
    {"aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor", replication_pad},
    {"aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor", replication_pad},
};

}  // namespace

std::span<const Row> padding_rows() { return kRows; }

}  // namespace sardonyx::aten

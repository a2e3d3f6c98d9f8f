// Padding by a constant, by reflection, by repetition of the edge, and around.
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
Value cropped(Emit& onnx, Value x, Pads& pads) {
  for (std::size_t i = 0; i < pads.before.size(); ++i) {
    if (!negative(pads.before[i]) && !negative(pads.after[i])) continue;
    const auto axis = static_cast<std::int64_t>(i);
    const Expr start = negative(pads.before[i]) ? -pads.before[i] : Expr(0);
    const Expr end = x.dim(axis) + (negative(pads.after[i]) ? pads.after[i] : Expr(0));
    x = onnx.slice(x, axis, start, end);
    if (negative(pads.before[i])) pads.before[i] = 0;
    if (negative(pads.after[i])) pads.after[i] = 0;
  }
  return x;
}

Value padded(Emit& onnx, Value x, Pads pads, std::string_view mode, Value fill) {
  x = cropped(onnx, x, pads);
  std::vector<Expr> all = pads.before;
  all.insert(all.end(), pads.after.begin(), pads.after.end());
  if (std::ranges::all_of(all, [](Expr size) { return size.is(0); })) return x;
  return onnx.pad(x, onnx.sizes(all), fill, {}, {.mode = mode});
}

// Around each axis come the elements from its other end.
Value circular(Emit& onnx, Value x, const Pads& pads) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < pads.before.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    const Expr size = x.dim(axis);
    std::vector<Value> parts;
    if (!pads.before[i].is(0)) {
      parts.push_back(onnx.slice(x, axis, size - pads.before[i], kEnd));
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

Outputs pad(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Pads pads = pads_of(call, "pad", self.rank());
  const std::string mode = call.text("mode");
  if (mode == "constant") {
    return {by_constant(call, onnx, pads, call.optional_scalar("value").value_or(Scalar(0)))};
  }
  if (mode == "reflect") return {padded(onnx, self, pads, "reflect", {})};
  if (mode == "replicate") return {padded(onnx, self, pads, "edge", {})};
  if (mode == "circular") return {circular(onnx, self, pads)};
  call.refuse("padding mode " + mode);
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
    {"aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor", 13, pad_circular},
    {"aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", 13,
     constant_pad_nd},
    {"aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor", 13,
     pad},
    {"aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor", 13, reflection_pad},
    {"aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor", 13, reflection_pad},
    {"aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor", 13, reflection_pad},
    {"aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor", 13, replication_pad},
    {"aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor", 13, replication_pad},
    {"aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor", 13, replication_pad},
};

}  // namespace

std::span<const Row> padding_rows() { return kRows; }

}  // namespace sardonyx::aten

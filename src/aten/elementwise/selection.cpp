// Choosing element by element: where, masked_fill, clamp.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// A branch of where: a tensor or a number, in the result's type.
Value branch(const Call& call, Emit& onnx, std::string_view name) {
  if (call.argument(name).get<program::Value*>()) {
    return cast_to_result(onnx, call, call.tensor(name));
  }
  return scalar_value(onnx, call.scalar(name), call.result_dtype());
}

Outputs where(const Call& call, Emit& onnx) {
  const Value condition = onnx.cast(call.tensor("condition"), DType::kBool);
  return {onnx.where(condition, branch(call, onnx, "self"), branch(call, onnx, "other"))};
}

Outputs masked_fill(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value mask = onnx.cast(call.tensor("mask"), DType::kBool);
  return {onnx.where(mask, branch(call, onnx, "value"), self)};
}

// NaN where x or the bound is: ONNX does not say so, and its runtimes do as for torch.maximum.
Value bounded(Emit& onnx, Value x, Value bound, bool from_below) {
  return from_below ? onnx.max({x, bound}) : onnx.min({x, bound});
}

Value clamped(const Call& call, Emit& onnx, std::string_view low, std::string_view high) {
  Value x = cast_to_result(onnx, call, call.tensor("self"));
  // When the bounds cross, the upper one wins: it is applied last.
  if (!low.empty() && call.has(low)) x = bounded(onnx, x, branch(call, onnx, low), true);
  if (!high.empty() && call.has(high)) x = bounded(onnx, x, branch(call, onnx, high), false);
  return x;
}

Outputs clamp(const Call& call, Emit& onnx) { return {clamped(call, onnx, "min", "max")}; }
Outputs clamp_min(const Call& call, Emit& onnx) { return {clamped(call, onnx, "min", "")}; }
Outputs clamp_max(const Call& call, Emit& onnx) { return {clamped(call, onnx, "", "max")}; }

constexpr Row kRows[] = {
    {"aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", clamp},
    {"aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", clamp},
    {"aten::clamp_max(Tensor self, Scalar max) -> Tensor", clamp_max},
    {"aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", clamp_max},
    {"aten::clamp_min(Tensor self, Scalar min) -> Tensor", clamp_min},
    {"aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", clamp_min},
    {"aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", clamp},
    {"aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", clamp},
    {"aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", masked_fill},
    {"aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", masked_fill},
    {"aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", where},
    {"aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", where},
    {"aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", where},
    {"aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", where},
};

}  // namespace

std::span<const Row> selection_rows() { return kRows; }

}  // namespace sardonyx::aten

// What kind of number an element is: NaN, infinite, negative; and what to put in its place.
#include <limits>

#include "aten/elementwise/long_integers.h"
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value always(const Call& call, Emit& onnx, bool truth) {
  return onnx.full(call.result_shape(), onnx.bool_scalar(truth));
}

bool floating_self(const Call& call) { return base::is_floating(call.tensor("self").dtype()); }

Outputs isnan(const Call& call, Emit& onnx) {
  if (!floating_self(call)) return {always(call, onnx, false)};
  return {onnx.is_nan(call.tensor("self"))};
}

Outputs isinf(const Call& call, Emit& onnx) {
  if (!floating_self(call)) return {always(call, onnx, false)};
  return {onnx.is_inf(call.tensor("self"))};
}

Outputs isposinf(const Call& call, Emit& onnx) {
  if (!floating_self(call)) return {always(call, onnx, false)};
  return {onnx.is_inf(call.tensor("self"), {.detect_negative = 0})};
}

Outputs isneginf(const Call& call, Emit& onnx) {
  if (!floating_self(call)) return {always(call, onnx, false)};
  return {onnx.is_inf(call.tensor("self"), {.detect_positive = 0})};
}

Value finite(Emit& onnx, Value x) { return onnx.not_(onnx.or_(onnx.is_nan(x), onnx.is_inf(x))); }

Outputs isfinite(const Call& call, Emit& onnx) {
  if (!floating_self(call)) return {always(call, onnx, true)};
  return {finite(onnx, call.tensor("self"))};
}

Outputs isreal(const Call& call, Emit& onnx) { return {always(call, onnx, true)}; }

Outputs signbit(const Call& call, Emit& onnx) { return {has_sign(onnx, call.tensor("self"))}; }

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 3.3895313892515355e38;
    case DType::kFloat32:
      return static_cast<double>(std::numeric_limits<float>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}

Outputs nan_to_num(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  if (!base::is_floating(x.dtype())) return {x};
  const double largest = largest_finite(x.dtype());
  const auto stand_in = [&](std::string_view name, double otherwise) {
    return onnx.scalar(call.optional_number(name).value_or(otherwise), x.dtype());
  };
  Value y = onnx.where(onnx.is_nan(x), stand_in("nan", 0), x);
  y = onnx.where(onnx.is_inf(x, {.detect_negative = 0}), stand_in("posinf", largest), y);
  return {onnx.where(onnx.is_inf(x, {.detect_positive = 0}), stand_in("neginf", -largest), y)};
}

// |a - b| <= atol + |rtol * b|, equal ones always, infinite ones only when equal.
Value close(const Call& call, Emit& onnx) {
  const Pair pair = promoted(onnx, call.tensor("self"), call.tensor("other"));
  const bool truth = pair.left.dtype() == DType::kBool;
  Value same = onnx.equal(pair.left, pair.right);
  const bool floats = base::is_floating(pair.left.dtype());
  if (floats && call.flag("equal_nan")) {
    same = onnx.or_(same, onnx.and_(onnx.is_nan(pair.left), onnx.is_nan(pair.right)));
  }
  if (truth || (call.number("rtol") == 0 && call.number("atol") == 0)) return same;
  const DType dtype = floats ? pair.left.dtype() : DType::kFloat32;
  const Value right = onnx.cast(pair.right, dtype);
  const Value allowed = onnx.add(onnx.abs(onnx.mul(right, onnx.scalar(call.number("rtol"), dtype))),
                                 onnx.scalar(call.number("atol"), dtype));
  const Value error = onnx.cast(onnx.abs(onnx.sub(pair.left, pair.right)), dtype);
  const Value near = onnx.and_(finite(onnx, error), onnx.less_or_equal(error, allowed));
  return onnx.or_(same, near);
}

Outputs isclose(const Call& call, Emit& onnx) { return {close(call, onnx)}; }

// 1 above zero, 0 below (and for NaN), `values` at zero.
Outputs heaviside(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self"), values = call.tensor("values");
  const bool truth = self.dtype() == DType::kBool;
  const Value x = truth ? onnx.cast(self, DType::kInt32) : self;
  const Value zero = onnx.zero(x.dtype());
  const Value above = onnx.cast(onnx.greater(x, zero), self.dtype());
  return {onnx.where(onnx.equal(x, zero), values, above)};
}

// The larger or smaller of two, a NaN only where both are.
Outputs numeric_extreme(const Call& call, Emit& onnx, bool largest) {
  const DType dtype = call.result_dtype();
  const Value a = onnx.cast(call.tensor("self"), dtype), b = onnx.cast(call.tensor("other"), dtype);
  if (dtype == DType::kBool) return {largest ? onnx.or_(a, b) : onnx.and_(a, b)};
  const Value extreme = largest ? larger_of(onnx, a, b) : smaller_of(onnx, a, b);
  if (!base::is_floating(dtype)) return {extreme};
  return {onnx.where(onnx.is_nan(a), b, onnx.where(onnx.is_nan(b), a, extreme))};
}

Outputs fmax(const Call& call, Emit& onnx) { return numeric_extreme(call, onnx, true); }
Outputs fmin(const Call& call, Emit& onnx) { return numeric_extreme(call, onnx, false); }

constexpr Row kRows[] = {
    {"aten::fmax(Tensor self, Tensor other) -> Tensor", fmax},
    {"aten::fmin(Tensor self, Tensor other) -> Tensor", fmin},
    {"aten::heaviside(Tensor self, Tensor values) -> Tensor", heaviside},
    {"aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
     "atol=1e-08, bool equal_nan=False) -> Tensor",
     isclose},
    {"aten::isfinite(Tensor self) -> Tensor", isfinite},
    {"aten::isinf(Tensor self) -> Tensor", isinf},
    {"aten::isnan(Tensor self) -> Tensor", isnan},
    {"aten::isneginf(Tensor self) -> Tensor", isneginf},
    {"aten::isposinf(Tensor self) -> Tensor", isposinf},
    {"aten::isreal(Tensor self) -> Tensor", isreal},
    {"aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> "
     "Tensor",
     nan_to_num},
    {"aten::signbit(Tensor self) -> Tensor", signbit},
};

}  // namespace

std::span<const Row> classification_rows() { return kRows; }

}  // namespace sardonyx::aten

// Tensors made from sizes: filled ones, ranges, and masks of triangles.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value filled(const Call& call, Emit& onnx, const Scalar& value) {
  const DType dtype = base::real_of(call.result_dtype());
  return onnx.full(call.result_shape(), scalar_value(onnx, value, dtype));
}

Outputs zeros(const Call& call, Emit& onnx) { return {filled(call, onnx, 0)}; }
Outputs ones(const Call& call, Emit& onnx) { return {filled(call, onnx, 1)}; }

// What an empty tensor holds is not said; zeros are as good as anything.
Outputs empty(const Call& call, Emit& onnx) { return {filled(call, onnx, 0)}; }

Outputs full(const Call& call, Emit& onnx) {
  return {filled(call, onnx, call.scalar("fill_value"))};
}

// Every element of `self` replaced.
Outputs fill(const Call& call, Emit& onnx) { return {filled(call, onnx, call.scalar("value"))}; }

Outputs replaced(const Call& call, Emit& onnx, std::string_view by) {
  return {onnx.expand(cast_to_result(onnx, call, call.tensor(by)), call.result_shape())};
}
Outputs fill_by_tensor(const Call& call, Emit& onnx) { return replaced(call, onnx, "value"); }
Outputs copy(const Call& call, Emit& onnx) { return replaced(call, onnx, "src"); }

Outputs scalar_tensor(const Call& call, Emit& onnx) {
  return {filled(call, onnx, call.scalar("s"))};
}

// 0, 1, ... as many as there are steps, which PyTorch counts in double.
Value places_until(Emit& onnx, const Scalar& start, const Scalar& end, const Scalar& step) {
  const auto number = [&](const Scalar& s) { return scalar_value(onnx, s, DType::kFloat64); };
  // One after the other: compilers differ in which argument of a call comes first.
  const Value size = number(step), first = number(start), last = number(end);
  const Value steps = onnx.div(onnx.sub(last, first), size);
  const Value one = onnx.int_scalar(1), count = onnx.cast(onnx.ceil(steps), DType::kInt64);
  return onnx.range(onnx.int_scalar(0), count, one);
}

// PyTorch counts integers in int64, to which it cuts fractions of the start and the step, and of
// the end where the result is int64 as well; half types in float32 and other floats in double.
Value range(const Call& call, Emit& onnx, const Scalar& start, const Scalar& end,
            const Scalar& step) {
  const DType result = call.result_dtype();
  const bool whole = base::is_integer(result);
  if (whole && !start.is_float() && !end.is_float() && !step.is_float()) {
    const auto number = [&](const Scalar& s) { return scalar_value(onnx, s, DType::kInt64); };
    const Value size = number(step), last = number(end), first = number(start);
    return onnx.cast(onnx.range(first, last, size), result);
  }
  const DType counting = whole                          ? DType::kInt64
                         : base::bit_width(result) < 32 ? DType::kFloat32
                                                        : DType::kFloat64;
  const auto number = [&](const Scalar& s) {
    if (whole && s.is_constant()) return onnx.int_scalar(s.as_int());
    return scalar_value(onnx, s, counting);
  };
  // Elements are start + i * step, not a running sum: rounding must not pile up.
  const Expr length = call.result_shape().front();
  if (result == DType::kInt64 && !onnx.can_size(length)) {
    const Value size = number(step), last = number(end), first = number(start);
    return onnx.range(first, last, size);
  }
  const Value places =
      onnx.can_size(length) ? onnx.range(length) : places_until(onnx, start, end, step);
  const Value index = onnx.cast(places, counting);
  const Value first = number(start), size = number(step);
  return onnx.cast(onnx.add(onnx.mul(index, size), first), result);
}

Outputs arange(const Call& call, Emit& onnx) {
  return {range(call, onnx, 0, call.scalar("end"), 1)};
}
Outputs arange_start(const Call& call, Emit& onnx) {
  return {range(call, onnx, call.scalar("start"), call.scalar("end"), 1)};
}
Outputs arange_start_step(const Call& call, Emit& onnx) {
  return {range(call, onnx, call.scalar("start"), call.scalar("end"), call.scalar("step"))};
}

Outputs eye(const Call& call, Emit& onnx) {
  // Not the result's sizes: PyTorch's capture takes some that are 1 from size 2 on for 1.
  const Expr rows = call.size("n");
  const Expr columns = call.has("m") ? call.size("m") : rows;
  const Value diagonal = onnx.equal(onnx.unsqueeze(onnx.range(rows), {1}), onnx.range(columns));
  return {onnx.cast(diagonal, call.result_dtype())};
}

Outputs triangle(const Call& call, Emit& onnx, bool upper) {
  return {
      onnx.trilu(call.tensor("self"), onnx.size(call.size("diagonal")), {.upper = upper ? 1 : 0})};
}

Outputs tril(const Call& call, Emit& onnx) { return triangle(call, onnx, false); }
Outputs triu(const Call& call, Emit& onnx) { return triangle(call, onnx, true); }

constexpr Row kRows[] = {
    {"aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, "
     "bool? pin_memory=None) -> Tensor",
     arange},
    {"aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     arange_start},
    {"aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     arange_start_step},
    {"aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", copy},
    {"aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     empty},
    {"aten::empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     empty},
    {"aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, "
     "Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     empty},
    {"aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     empty},
    {"aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? "
     "pin_memory=None) -> Tensor",
     eye},
    {"aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     eye},
    {"aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", fill},
    {"aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", fill_by_tensor},
    {"aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     full},
    {"aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) "
     "-> "
     "Tensor",
     full},
    {"aten::new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     empty},
    {"aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     empty},
    {"aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     full},
    {"aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     ones},
    {"aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     zeros},
    {"aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, "
     "bool? pin_memory=None) -> Tensor",
     ones},
    {"aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     ones},
    {"aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     scalar_tensor},
    {"aten::tril(Tensor self, SymInt diagonal=0) -> Tensor", tril},
    {"aten::triu(Tensor self, SymInt diagonal=0) -> Tensor", triu},
    {"aten::zero(Tensor self) -> Tensor", zeros},
    {"aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     zeros},
    {"aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     zeros},
};

}  // namespace

std::span<const Row> creation_rows() { return kRows; }

}  // namespace sardonyx::aten

// Tensors with a part replaced or combined with others: the pure forms that writes to views
// become, and scatters.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/indexing/scattering.h"
#include "symbolic/positions.h"

namespace sardonyx::aten {

Combining combining_of(const Call& call) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string name = call.text("reduce");
  if (name == "sum" || name == "mean") return {"add", 0};
  if (name == "prod") return {"mul", 1};
  if (name == "amax" || name == "max") return {"max", -kInfinity};
  if (name == "amin" || name == "min") return {"min", kInfinity};
  call.refuse(call.op() + " with reduce='" + name + "'");
}

bool may_be_empty(Value x) {
  return std::ranges::any_of(x.shape(), [](const symbolic::Expr& size) {
    return !size.is_constant() || size.value() == 0;
  });
}

Value cut_to(Emit& onnx, Value source, Value index) {
  for (std::int64_t axis = 0; axis < index.rank(); ++axis) {
    if (!(source.dim(axis) == index.dim(axis))) {
      source = onnx.slice(source, axis, 0, index.dim(axis));
    }
  }
  return source;
}

Value scatter_combined(Emit& onnx, Value into, Value index, Value updates, std::int64_t axis,
                       std::string_view reduction) {
  const Value found =
      onnx.scatter_elements(into, index, updates, {.axis = axis, .reduction = reduction});
  const bool extreme = reduction == "max" || reduction == "min";
  if (!extreme || !base::is_floating(into.dtype())) return found;
  const auto nans = [&](Value x) { return onnx.cast(onnx.is_nan(x), DType::kInt32); };
  const Value spoilt =
      onnx.scatter_elements(nans(into), index, nans(updates), {.axis = axis, .reduction = "max"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return onnx.where(onnx.cast(spoilt, DType::kBool), onnx.scalar_like(nan, found), found);
}

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

// A slice bound as PyTorch reads it: from the end when negative, inside the axis always.
Expr bound(Expr at, Expr size) {
  if (symbolic::certainly_nonnegative(at))
    return at.is_constant() && size.is_constant() ? symbolic::min(at, size) : at;
  return symbolic::max(symbolic::from_front(at, size), 0);
}

// What replaces slice [start, end) of an axis in steps: the parts around it, or positions.
Outputs slice_scatter(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value source = onnx.cast(call.tensor("src"), self.dtype());
  const std::int64_t axis = call.axis("dim", self.rank());
  const Expr size = self.dim(axis);
  const Expr start = bound(call.optional_size("start").value_or(0), size);
  const Expr step = call.size("step");
  if (step.is(1)) {
    // How much is replaced is what the source holds, wherever the end was clamped.
    const Expr end = start + source.dim(axis);
    if (start.is(0) && end == size) return {source};
    std::vector<Value> parts;
    if (!start.is(0)) parts.push_back(onnx.slice(self, axis, 0, start));
    parts.push_back(source);
    if (!(end == size)) parts.push_back(onnx.slice(self, axis, end, kEnd));
    return {onnx.concat(parts, axis)};
  }
  // Every step-th position along the axis, spread over the source.
  const Value positions =
      onnx.range(onnx.size(start), onnx.size(start + source.dim(axis) * step), onnx.size(step));
  std::vector<std::int64_t> around;
  for (std::int64_t i = 0; i < self.rank(); ++i) {
    if (i != axis) around.push_back(i);
  }
  const Value index = onnx.expand(onnx.unsqueeze(positions, around), source.shape());
  return {onnx.scatter_elements(self, index, source, {.axis = axis})};
}

Outputs select_scatter(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t axis = call.axis("dim", self.rank());
  const Value source = onnx.unsqueeze(onnx.cast(call.tensor("src"), self.dtype()), {axis});
  const Expr size = self.dim(axis);
  const Expr at = symbolic::from_front(call.size("index"), size);
  std::vector<Value> parts;
  if (!at.is(0)) parts.push_back(onnx.slice(self, axis, 0, at));
  parts.push_back(source);
  if (!(at + 1 == size)) parts.push_back(onnx.slice(self, axis, at + 1, kEnd));
  return {parts.size() == 1 ? parts.front() : onnx.concat(parts, axis)};
}

Outputs scattered(const Call& call, Emit& onnx, Value updates, std::string_view reduction) {
  const Value self = call.tensor("self"), index = call.tensor("index");
  const Value places = onnx.with_rank(index, 1), base = onnx.with_rank(self, 1);
  if (places.rank() != base.rank()) return {self};  // the index is empty
  const Value values = cut_to(onnx, onnx.with_rank(updates, 1), places);
  const std::int64_t axis = call.axis("dim", base.rank());
  if (reduction.empty()) {
    const Value written = onnx.scatter_elements(base, places, values, {.axis = axis});
    return {onnx.reshape(written, self.shape())};
  }
  const Value result =
      onnx.scatter_elements(base, places, values, {.axis = axis, .reduction = reduction});
  return {onnx.reshape(result, self.shape())};
}

// The older `reduce` of scatter, which overloads without it leave out.
std::string_view older_reduction(const Call& call) {
  if (!call.captured().schema->find("reduce")) return "";
  const std::string name = call.text("reduce");
  if (name == "add") return "add";
  if (name == "multiply" && base::is_complex(call.captured_tensor("self").dtype)) {
    call.refuse("products of complex numbers at an index", "gather, multiply and scatter them");
  }
  if (name == "multiply") return "mul";
  call.refuse("scatter with reduce=" + name);
}

Outputs scatter_src(const Call& call, Emit& onnx) {
  const Value source = onnx.cast(call.tensor("src"), call.tensor("self").dtype());
  return scattered(call, onnx, source, older_reduction(call));
}

Outputs scatter_value(const Call& call, Emit& onnx) {
  const Value value = scalar_value(onnx, call.scalar("value"), call.tensor("self").dtype());
  const Value source = onnx.expand(value, call.tensor("index").shape());
  return scattered(call, onnx, source, older_reduction(call));
}

Outputs scatter_add(const Call& call, Emit& onnx) {
  return scattered(call, onnx, call.tensor("src"), "add");
}

// The elements of `source`, in order, go where the mask holds: the n-th place takes the n-th.
Outputs masked_scatter(const Call& call, Emit& onnx) {
  const Value source = onnx.cast(call.tensor("source"), call.tensor("self").dtype());
  const Value self = onnx.expand(call.tensor("self"), call.result_shape());
  const Value mask = onnx.expand(call.tensor("mask"), call.result_shape());
  const Value ones = onnx.cast(onnx.flatten_to_1d(mask), DType::kInt64);
  const Value places = onnx.sub(onnx.cumsum(ones, onnx.int_scalar(0)), onnx.int_scalar(1));
  // Places before the first are not read; they only have to be inside.
  const Value inside = onnx.max({places, onnx.int_scalar(0)});
  Value elements = onnx.flatten_to_1d(source);
  // Where the mask holds nowhere, there may be none, and yet one has to be inside.
  if (may_be_empty(source))
    elements = onnx.concat({elements, onnx.unsqueeze(onnx.zero(source.dtype()), {0})}, 0);
  const Value taken = onnx.gather(elements, inside, {.axis = 0});
  return {onnx.where(mask, onnx.reshape(taken, call.result_shape()), self)};
}

constexpr Row kRows[] = {
    {"aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", masked_scatter},
    {"aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> "
     "Tensor",
     scatter_src},
    {"aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatter_src},
    {"aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
     scatter_value},
    {"aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) "
     "-> Tensor",
     scatter_value},
    {"aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatter_add},
    {"aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
     select_scatter},
    {"aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? "
     "end=None, "
     "SymInt step=1) -> Tensor",
     slice_scatter},
};

}  // namespace

std::span<const Row> scatter_rows() { return kRows; }

}  // namespace sardonyx::aten

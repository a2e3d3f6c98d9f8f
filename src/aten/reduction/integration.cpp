// Integrals and derivatives from samples: trapezoid, cumulative_trapezoid, gradient.
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

Value after(Emit& onnx, Value x, std::int64_t axis) { return onnx.slice(x, axis, 1, kEnd); }
Value before(Emit& onnx, Value x, std::int64_t axis) { return onnx.slice(x, axis, 0, -1); }

bool has_argument(const Call& call, std::string_view name) {
  return call.captured().schema->find(name).has_value();
}

// A sum along one axis; that of integers is int64.
Value summed(Emit& onnx, Value x, std::int64_t axis) {
  if (base::is_integer(x.dtype())) x = onnx.cast(x, DType::kInt64);
  return onnx.reduce("ReduceSum", x, std::vector<std::int64_t>{axis}, false);
}

// Sums of neighbors times their distances. As in PyTorch each step is in the type of its own
// operands: sums and distances of small integers wrap round.
Value double_areas(const Call& call, Emit& onnx, std::int64_t axis) {
  const Value y = call.tensor("y");
  Value x = call.tensor("x");
  if (x.rank() == 1 && y.rank() > 1) {  // one list of places for every row
    Shape along(y.shape().size(), 1);
    along[static_cast<std::size_t>(axis)] = x.dim(0);
    x = onnx.reshape(x, along);
  }
  // x may lack y's leading axes.
  const std::int64_t own = axis - y.rank() + x.rank();
  const Value width = onnx.sub(after(onnx, x, own), before(onnx, x, own));
  const Value sums = onnx.add(after(onnx, y, axis), before(onnx, y, axis));
  const Pair factors = promoted(onnx, sums, width);
  return onnx.mul(factors.left, factors.right);
}

// The first sample and the last, which are 0 where there are none.
Value ends_of(Emit& onnx, Value y, std::int64_t axis) {
  if (y.dim(axis).is_constant()) return onnx.add(onnx.select(y, axis, 0), onnx.select(y, axis, -1));
  const auto only = [&](Value part) {
    return onnx.reduce("ReduceSum", part, std::vector<std::int64_t>{axis}, false);
  };
  return onnx.add(only(onnx.slice(y, axis, 0, 1)), only(onnx.slice(y, axis, -1, kEnd)));
}

// Every sample counts once, but those at the ends half.
Outputs trapezoid(const Call& call, Emit& onnx) {
  const Value y = call.tensor("y");
  const DType dtype = base::real_of(call.result_dtype());
  const std::int64_t axis = call.axis("dim", y.rank());
  if (y.dim(axis).is(0)) return {onnx.full(call.result_shape(), onnx.zero(dtype))};
  const Value half = onnx.scalar(0.5, dtype);
  if (has_argument(call, "x")) {
    const Value twice = summed(onnx, double_areas(call, onnx, axis), axis);
    return {onnx.mul(onnx.cast(twice, dtype), half)};
  }
  const Value ends = ends_of(onnx, y, axis);
  const Value whole =
      onnx.sub(onnx.cast(summed(onnx, y, axis), dtype), onnx.mul(onnx.cast(ends, dtype), half));
  return {onnx.mul(whole, operand(call, onnx, "dx", dtype))};
}

Outputs cumulative_trapezoid(const Call& call, Emit& onnx) {
  const Value y = call.tensor("y");
  const DType dtype = base::real_of(call.result_dtype());
  const std::int64_t axis = call.axis("dim", y.rank());
  const Value half = onnx.scalar(0.5, dtype);
  Value areas;
  if (has_argument(call, "x")) {
    areas = onnx.mul(onnx.cast(double_areas(call, onnx, axis), dtype), half);
  } else {
    const Value sums = onnx.add(after(onnx, y, axis), before(onnx, y, axis));
    areas = onnx.mul(onnx.cast(sums, dtype), onnx.mul(operand(call, onnx, "dx", dtype), half));
  }
  return {onnx.cumsum(areas, onnx.int_scalar(axis))};
}

// --- gradient

// The distances between samples along one axis: a number for all, or their places.
struct Spacing {
  Value step;    // 0-d
  Value places;  // 1-d
};

Spacing spacing_of(const Call& call, Emit& onnx, DType dtype, std::size_t i) {
  if (!has_argument(call, "spacing") || !call.has("spacing")) return {onnx.one(dtype), {}};
  const program::Argument& given = call.argument("spacing");
  if (const program::List* list = given.get<program::List>()) {
    const bool tensors = !list->empty() && list->front().get<program::Value*>();
    if (tensors) return {{}, onnx.cast(call.tensors("spacing").at(i), dtype)};
    const std::vector<double> steps = call.numbers("spacing");
    return {onnx.scalar(steps.size() == 1 ? steps.front() : steps.at(i), dtype), {}};
  }
  return {scalar_value(onnx, call.scalar("spacing"), dtype), {}};
}

struct Axis {
  Value x;
  std::int64_t axis;
};

Value part(Emit& onnx, const Axis& a, Expr from, Expr to) {
  return onnx.slice(a.x, a.axis, from, to);
}

// Central differences inside, one-sided ones of first or second order at the ends.
Value evenly_spaced(Emit& onnx, const Axis& a, Value step, std::int64_t order) {
  const DType dtype = a.x.dtype();
  const auto number = [&](double value) { return onnx.scalar(value, dtype); };
  const auto at = [&](std::int64_t i) { return part(onnx, a, i, i == -1 ? kEnd : i + 1); };
  const Value two = onnx.mul(step, number(2));
  const Value inner = onnx.div(onnx.sub(part(onnx, a, 2, kEnd), part(onnx, a, 0, -2)), two);
  Value first, last;
  if (order == 1) {
    first = onnx.div(onnx.sub(at(1), at(0)), step);
    last = onnx.div(onnx.sub(at(-1), at(-2)), step);
  } else {
    const auto three = [&](Value x, Value y, Value z) {
      return onnx.add(onnx.add(onnx.mul(x, number(-1.5)), onnx.mul(y, number(2))),
                      onnx.mul(z, number(-0.5)));
    };
    first = onnx.div(three(at(0), at(1), at(2)), step);
    last = onnx.div(onnx.neg(three(at(-1), at(-2), at(-3))), step);
  }
  return onnx.concat({first, inner, last}, a.axis);
}

// Weights of three points a distance l before and r behind the one in the middle.
Value unevenly_spaced(Emit& onnx, const Axis& a, Value places, std::int64_t order) {
  Shape along(a.x.shape().size(), 1);
  along[static_cast<std::size_t>(a.axis)] = places.dim(0);
  const Axis p = {onnx.reshape(places, along), a.axis};
  const Axis d = {onnx.sub(part(onnx, p, 1, kEnd), part(onnx, p, 0, -1)), a.axis};
  const auto at = [&](const Axis& of, std::int64_t i) {
    return part(onnx, of, i, i == -1 ? kEnd : i + 1);
  };
  const Value l = part(onnx, d, 0, -1), r = part(onnx, d, 1, kEnd), both = onnx.add(l, r);
  const Value before_weight = onnx.neg(onnx.div(r, onnx.mul(l, both)));
  const Value middle_weight = onnx.div(onnx.sub(r, l), onnx.mul(l, r));
  const Value after_weight = onnx.div(l, onnx.mul(r, both));
  const auto weighted = [&](Value w0, Value x0, Value w1, Value x1, Value w2, Value x2) {
    return onnx.add(onnx.add(onnx.mul(w0, x0), onnx.mul(w1, x1)), onnx.mul(w2, x2));
  };
  const Value inner = weighted(before_weight, part(onnx, a, 0, -2), middle_weight,
                               part(onnx, a, 1, -1), after_weight, part(onnx, a, 2, kEnd));
  Value first, last;
  if (order == 1) {
    first = onnx.div(onnx.sub(at(a, 1), at(a, 0)), at(d, 0));
    last = onnx.div(onnx.sub(at(a, -1), at(a, -2)), at(d, -1));
  } else {
    const Value two = onnx.scalar(2, a.x.dtype());
    // At an end, h is the distance to the next point, g to the one behind that.
    const auto end = [&](Value h, Value g, Value x0, Value x1, Value x2) {
      const Value sum = onnx.add(h, g);
      const Value w0 = onnx.neg(onnx.div(onnx.add(onnx.mul(two, h), g), onnx.mul(h, sum)));
      const Value w1 = onnx.div(sum, onnx.mul(h, g));
      const Value w2 = onnx.neg(onnx.div(h, onnx.mul(g, sum)));
      return weighted(w0, x0, w1, x1, w2, x2);
    };
    first = end(at(d, 0), at(d, 1), at(a, 0), at(a, 1), at(a, 2));
    last = onnx.neg(end(at(d, -1), at(d, -2), at(a, -1), at(a, -2), at(a, -3)));
  }
  return onnx.concat({first, inner, last}, a.axis);
}

Outputs gradient(const Call& call, Emit& onnx) {
  const DType dtype = base::real_of(call.result_dtype());
  if (!base::is_floating(dtype)) {
    call.refuse("a gradient of integers", "make the samples floating");
  }
  const Value x = onnx.cast(call.tensor("self"), dtype);
  const std::int64_t order = call.integer("edge_order");
  std::vector<std::int64_t> axes;
  if (call.has("dim")) {
    axes = call.axes("dim", x.rank());
  } else {
    for (std::int64_t axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  }
  Outputs outputs;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Spacing spacing = spacing_of(call, onnx, dtype, i);
    const Axis along = {x, axes[i]};
    outputs.push_back(spacing.places ? unevenly_spaced(onnx, along, spacing.places, order)
                                     : evenly_spaced(onnx, along, spacing.step, order));
  }
  return outputs;
}

constexpr Row kRows[] = {
    {"aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
     cumulative_trapezoid},
    {"aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
     cumulative_trapezoid},
    {"aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]", gradient},
    {"aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> "
     "Tensor[]",
     gradient},
    {"aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int "
     "edge_order=1) -> Tensor[]",
     gradient},
    {"aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) "
     "-> Tensor[]",
     gradient},
    {"aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int "
     "edge_order=1) -> Tensor[]",
     gradient},
    {"aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> "
     "Tensor[]",
     gradient},
    {"aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int "
     "edge_order=1) -> Tensor[]",
     gradient},
    {"aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", trapezoid},
    {"aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", trapezoid},
    {"aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor", trapezoid},
    {"aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", trapezoid},
};

}  // namespace

std::span<const Row> integration_rows() { return kRows; }

}  // namespace sardonyx::aten

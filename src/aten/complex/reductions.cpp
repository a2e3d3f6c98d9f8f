// Reductions of complex tensors that are not those of their parts.
#include <algorithm>
#include <functional>
#include <limits>

#include "aten/complex/componentwise.h"
#include "aten/complex/math.h"
#include "aten/families.h"
#include "aten/reduction/reduction_axes.h"

namespace sardonyx::aten {
namespace {

// The variance is the sum of the parts' variances.
struct Moments {
  Outputs real, imaginary;
};
Moments moments(const Call& call, Emit& onnx) {
  return {on_parts(call, onnx, Part::kReal), on_parts(call, onnx, Part::kImaginary)};
}

Value mean_of(Emit& onnx, const Moments& found) {
  return from_parts(onnx, found.real.at(1), found.imaginary.at(1));
}

Outputs var(const Call& call, Emit& onnx) {
  const Moments found = moments(call, onnx);
  return {onnx.add(found.real[0], found.imaginary[0])};
}

Outputs var_mean(const Call& call, Emit& onnx) {
  const Moments found = moments(call, onnx);
  return {onnx.add(found.real[0], found.imaginary[0]), mean_of(onnx, found)};
}

Value deviation(Emit& onnx, const Moments& found) {
  return ComplexMath(onnx).abs({found.real[0], found.imaginary[0]});
}

Outputs std_deviation(const Call& call, Emit& onnx) {
  return {deviation(onnx, moments(call, onnx))};
}

Outputs std_mean(const Call& call, Emit& onnx) {
  const Moments found = moments(call, onnx);
  return {deviation(onnx, found), mean_of(onnx, found)};
}

// --- from one element to the next, along the first axis

struct Running {
  Parts last, all;  // the whole result, and all of them on the way
};

using Step = Parts (*)(const ComplexMath& math, const Parts& before, const Parts& next);

Running run(Emit& onnx, const Parts& x, double start, Step step) {
  const DType dtype = x.real.dtype();
  const Shape& shape = x.real.shape();
  const Shape row(shape.begin() + 1, shape.end());
  onnx::Graph* body = onnx.begin_body("running");
  const Value position = onnx.body_input("position", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  const Parts before = {onnx.body_input("real", dtype, row),
                        onnx.body_input("imaginary", dtype, row)};
  const Parts next = each_part(x, [&](Value part) { return onnx.gather(part, position); });
  const Parts found = step(ComplexMath(onnx), before, next);
  onnx.end_body(
      std::vector<Value>{condition, found.real, found.imaginary, found.real, found.imaginary});
  const onnx::Values first = {onnx.full(row, onnx.scalar(start, dtype)),
                              onnx.full(row, onnx.zero(dtype))};
  const onnx::Values results =
      onnx.loop(onnx.size(shape.front()), onnx.bool_scalar(true), first, body);
  for (std::size_t i = 0; i < 4; ++i) Emit::set_type(results[i], dtype, i < 2 ? row : shape);
  return {{results[0], results[1]}, {results[2], results[3]}};
}

Parts multiplied(const ComplexMath& math, const Parts& before, const Parts& next) {
  return math.mul(before, next);
}

Parts in_result_type(const Call& call, Emit& onnx) {
  return ComplexMath(onnx).complete(
      parts_of_operand(call, onnx, "self", base::real_of(call.result_dtype())));
}

Parts with_axis_in_front(Emit& onnx, const Parts& x, std::int64_t axis) {
  std::vector<std::int64_t> order = {axis};
  for (std::int64_t i = 0; i < x.real.rank(); ++i) {
    if (i != axis) order.push_back(i);
  }
  return each_part(x, [&](Value part) { return onnx.transpose(part, order); });
}

Outputs prod(const Call& call, Emit& onnx) {
  const Parts x =
      each_part(in_result_type(call, onnx), [&](Value part) { return onnx.flatten_to_1d(part); });
  return {joined(onnx, run(onnx, x, 1, multiplied).last)};
}

Outputs prod_dim(const Call& call, Emit& onnx) {
  const Parts x = in_result_type(call, onnx);
  if (x.real.rank() == 0) return {joined(onnx, x)};
  const Parts rows = with_axis_in_front(onnx, x, call.axis("dim", x.real.rank()));
  const Parts product = run(onnx, rows, 1, multiplied).last;
  return {joined(onnx, each_part(product, [&](Value part) {
                   return onnx.reshape(part, call.result_shape());
                 }))};
}

Outputs prod_primitive(const Call& call, Emit& onnx) {
  Parts x = ComplexMath(onnx).complete(
      parts_of_operand(call, onnx, "inp", base::real_of(call.result_dtype())));
  std::vector<std::int64_t> axes = reduction_axes(call, x.real);
  std::ranges::sort(axes, std::ranges::greater());
  for (const std::int64_t axis : axes) {
    x = run(onnx, with_axis_in_front(onnx, x, axis), 1, multiplied).last;
  }
  return {joined(onnx, x)};
}

Outputs run_along(const Call& call, Emit& onnx, double start, Step step) {
  const Parts x = in_result_type(call, onnx);
  if (x.real.rank() == 0) return {joined(onnx, x)};
  const std::int64_t axis = call.axis("dim", x.real.rank());
  const Parts all = run(onnx, with_axis_in_front(onnx, x, axis), start, step).all;
  std::vector<std::int64_t> back;
  for (std::int64_t i = 1; i < x.real.rank(); ++i) back.push_back(i);
  back.insert(back.begin() + axis, 0);
  return {joined(onnx, each_part(all, [&](Value part) { return onnx.transpose(part, back); }))};
}

Outputs cumprod(const Call& call, Emit& onnx) { return run_along(call, onnx, 1, multiplied); }

// --- sums of exponentials, about the largest real part

Value largest(Emit& onnx, Value real, const std::vector<std::int64_t>& axes) {
  const Value most = onnx.reduce("ReduceMax", real, axes, true);
  return onnx.where(onnx.is_inf(most), onnx.zero(most.dtype()), most);
}

Outputs logsumexp(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts x = in_result_type(call, onnx);
  const std::vector<std::int64_t> axes = reduction_axes(call, x.real);
  if (axes.empty()) return {joined(onnx, x)};
  const Value most = largest(onnx, x.real, axes);
  const Parts terms = math.exp(math.sub(x, {most, {}}));
  const Parts sum =
      each_part(terms, [&](Value part) { return onnx.reduce("ReduceSum", part, axes, true); });
  const Parts log = math.add(math.log(sum), {most, {}});
  return {joined(
      onnx, each_part(log, [&](Value part) { return onnx.reshape(part, call.result_shape()); }))};
}

// Step by step, as PyTorch does: the angle goes on beyond pi.
Outputs logcumsumexp(const Call& call, Emit& onnx) {
  return run_along(call, onnx, -std::numeric_limits<double>::infinity(),
                   [](const ComplexMath& math, const Parts& before, const Parts& next) {
                     return math.log_add_exp(before, next);
                   });
}

constexpr Row kRows[] = {
    {"aten::cumprod", cumprod},
    {"aten::logcumsumexp", logcumsumexp},
    {"aten::logsumexp", logsumexp},
    {"aten::prod", prod},
    {"aten::prod.dim_int", prod_dim},
    {"prims::prod", prod_primitive},
    {"aten::special_logsumexp", logsumexp},
    {"aten::std", std_deviation},
    {"aten::std.correction", std_deviation},
    {"aten::std.dim", std_deviation},
    {"aten::std_mean", std_mean},
    {"aten::std_mean.correction", std_mean},
    {"aten::std_mean.dim", std_mean},
    {"aten::var", var},
    {"aten::var.correction", var},
    {"aten::var.dim", var},
    {"aten::var_mean", var_mean},
    {"aten::var_mean.correction", var_mean},
    {"aten::var_mean.dim", var_mean},
};

}  // namespace

std::span<const Row> complex_reduction_rows() { return kRows; }

}  // namespace sardonyx::aten

#include "aten/matrices/matrices.h"

#include <algorithm>

namespace sardonyx::aten {

Parts wide_matrix(const Call& call, Emit& onnx, std::string_view name) {
  return each_part(parts_of(onnx, call.tensor(name)),
                   [&](Value part) { return onnx.cast(part, DType::kFloat64); });
}

Parts as_batch(Emit& onnx, const Parts& x) {
  const Shape& shape = x.real.shape();
  const Expr batch = symbolic::product(std::span(shape).first(shape.size() - 2));
  const Shape wanted = {batch, shape[shape.size() - 2], shape[shape.size() - 1]};
  return each_part(x, [&](Value part) {
    return shape.size() == 2 ? onnx.unsqueeze(part, {0}) : onnx.reshape_of_any_size(part, wanted);
  });
}

Value as_result(const Call& call, Emit& onnx, const Parts& x, std::size_t output) {
  if (!call.uses_output(output)) return {};
  const DType dtype = call.result_dtype(output);
  const Shape& wanted = call.result_shape(output);
  const auto fitted = [&](Value part) {
    const Value typed = onnx.cast(part, base::real_of(dtype));
    const bool is_one = typed.rank() == static_cast<std::int64_t>(wanted.size()) + 1;
    if (is_one && typed.dim(0).is(1)) return onnx.squeeze(typed, {0});
    return onnx.reshape_of_any_size(typed, wanted);
  };
  const ComplexMath math(onnx);
  return joined(onnx,
                each_part(base::is_complex(dtype) ? math.complete(x) : Parts{x.real, {}}, fitted));
}

Parts transposed(Emit& onnx, const Parts& x) {
  return each_part(x, [&](Value part) { return onnx.swap_axes(part, -1, -2); });
}

Parts adjoint(Emit& onnx, const Parts& x) { return ComplexMath(onnx).conj(transposed(onnx, x)); }

Value identity_mask(Emit& onnx, Expr rows, Expr columns) {
  return onnx.equal(onnx.unsqueeze(onnx.range(rows), {1}), onnx.range(columns));
}

Parts identity_matrix(Emit& onnx, const Parts& like, Expr rows, Expr columns) {
  const DType dtype = like.real.dtype();
  const Value ones = onnx.expand(onnx.cast(identity_mask(onnx, rows, columns), dtype),
                                 Shape{like.real.dim(0), rows, columns});
  return like.imaginary ? ComplexMath(onnx).complete({ones, {}}) : Parts{ones, {}};
}

Parts diagonal_of(Emit& onnx, const Parts& x) {
  const Expr rows = x.real.dim(-2), columns = x.real.dim(-1);
  const Value mask = identity_mask(onnx, rows, columns);
  const std::int64_t axis = -1;
  return each_part(x, [&](Value part) {
    const Value kept = onnx.where(mask, part, onnx.zero(part.dtype()));
    const Value sums = onnx.reduce("ReduceSum", kept, {&axis, 1}, false);
    return rows == columns ? sums : onnx.slice(sums, -1, 0, symbolic::min(rows, columns));
  });
}

Parts upper_triangle(Emit& onnx, const Parts& x) {
  return each_part(x, [&](Value part) { return onnx.trilu(part, {}, {.upper = 1}); });
}

Parts lower_triangle(Emit& onnx, const Parts& x, std::int64_t offset) {
  return each_part(
      x, [&](Value part) { return onnx.trilu(part, onnx.int_scalar(offset), {.upper = 0}); });
}

Parts ordered_rows(Emit& onnx, const Parts& x, Value order) {
  const Shape shape{x.real.dim(0), order.dim(1), x.real.dim(2)};
  const Value indices = onnx.expand(onnx.unsqueeze(order, {2}), shape);
  return each_part(x, [&](Value part) { return onnx.gather_elements(part, indices, {.axis = 1}); });
}

Parts ordered_columns(Emit& onnx, const Parts& x, Value order) {
  const Shape shape{x.real.dim(0), x.real.dim(1), order.dim(1)};
  const Value indices = onnx.expand(onnx.unsqueeze(order, {1}), shape);
  return each_part(x, [&](Value part) { return onnx.gather_elements(part, indices, {.axis = 2}); });
}

namespace {

onnx::Values flattened(const State& state) {
  onnx::Values values;
  for (const Parts& parts : state) {
    values.push_back(parts.real);
    if (parts.imaginary) values.push_back(parts.imaginary);
  }
  return values;
}

// Values in the order of flattened(), as parts like those of `like`.
State gathered(const onnx::Values& values, std::size_t& at, const State& like) {
  State state;
  for (const Parts& parts : like) {
    const Value real = values.at(at++);
    state.push_back({real, parts.imaginary ? values.at(at++) : Value{}});
  }
  return state;
}

Value typed(Value value, Value like, std::optional<Expr> stacked = {}) {
  Shape shape = like.shape();
  if (stacked) shape.insert(shape.begin(), *stacked);
  Emit::set_type(value, like.dtype(), shape);
  return value;
}

}  // namespace

Looped repeat(Emit& onnx, Value count, const State& start,
              const std::function<Stepped(Value k, const State& state)>& step) {
  const onnx::Values first = flattened(start);
  onnx::Graph* body = onnx.begin_body("matrix_loop");
  const Value k = onnx.body_input("step", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  onnx::Values carried;
  for (const Value value : first) {
    carried.push_back(onnx.body_input("carried", value.dtype(), value.shape()));
  }
  std::size_t at = 0;
  const Stepped made = step(k, gathered(carried, at, start));
  onnx::Values results = {made.again ? made.again : condition};
  for (const Value value : flattened(made.next)) results.push_back(value);
  const onnx::Values outs = flattened(made.out);
  results.insert(results.end(), outs.begin(), outs.end());
  onnx.end_body(results);

  const onnx::Values found = onnx.loop(count, onnx.bool_scalar(true), first, body);
  for (std::size_t i = 0; i < first.size(); ++i) typed(found[i], first[i]);
  for (std::size_t i = 0; i < outs.size(); ++i) typed(found[first.size() + i], outs[i], Expr());
  at = 0;
  Looped looped;
  looped.last = gathered(found, at, start);
  looped.each = gathered(found, at, made.out);
  return looped;
}

Value by_batch(Emit& onnx, Value steps, const Shape& shape) {
  return onnx.reshape_of_any_size(onnx.swap_axes(steps, 0, 1), shape);
}

}  // namespace sardonyx::aten

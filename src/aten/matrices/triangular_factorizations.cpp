// LU and Cholesky factors, and what is solved with triangles.
#include "aten/matrices/factorizations.h"

namespace sardonyx::aten {
namespace {

Value reduce(Emit& onnx, std::string_view op, Value x, std::int64_t axis, bool keep = false) {
  return onnx.reduce(op, x, {&axis, 1}, keep);
}

Parts row_of(Emit& onnx, const Parts& x, Value k) {
  return each_part(x, [&](Value part) { return onnx.gather(part, k, {.axis = 1}); });
}
Parts column_of(Emit& onnx, const Parts& x, Value k) {
  return each_part(x, [&](Value part) { return onnx.gather(part, k, {.axis = 2}); });
}
Parts element_of(Emit& onnx, const Parts& x, Value k) {
  return each_part(x, [&](Value part) { return onnx.gather(part, k, {.axis = 1}); });
}
Parts stretched(Emit& onnx, const Parts& x, std::int64_t axis) {
  return each_part(x, [&](Value part) { return onnx.unsqueeze(part, {axis}); });
}

// The order of positions in which k and p [batch, 1] have changed places.
Value exchanged(Emit& onnx, Value at, Value k, Value p) {
  const Value to_k = onnx.where(onnx.equal(at, p), k, at);
  return onnx.where(onnx.equal(at, k), p, to_k);
}

// What LAPACK compares to find a pivot.
Value pivot_size(Emit& onnx, const Parts& x) {
  const Value real = onnx.abs(x.real);
  return x.imaginary ? onnx.add(real, onnx.abs(x.imaginary)) : real;
}

// Rows of numbers in another order.
Value rearranged(Emit& onnx, Value numbers, Value order) {
  return onnx.gather_elements(numbers, order, {.axis = 1});
}

Parts zero(Emit& onnx) { return {onnx.zero(DType::kFloat64), {}}; }

}  // namespace

Lu lu_factors(Emit& onnx, const Parts& a) {
  const ComplexMath math(onnx);
  const Expr batch = a.real.dim(0), m = a.real.dim(1), n = a.real.dim(2);
  const Value rows = onnx.range(m), columns = onnx.range(n);
  const Value order = onnx.expand(onnx.unsqueeze(rows, {0}), Shape{batch, m});
  const Expr count = symbolic::min(m, n);
  // Nothing to factorize.
  if (count.is(0)) return {a, onnx.full(Shape{batch, 0}, onnx.int_scalar(0)), order};
  const Looped found =
      repeat(onnx, onnx.size(count), {a, {order, {}}}, [&](Value k, const State& state) {
        const Value below = onnx.greater(rows, k);
        const Value size = onnx.where(onnx.less(rows, k), onnx.scalar(-1, DType::kFloat64),
                                      pivot_size(onnx, column_of(onnx, state[0], k)));
        const Value p = onnx.arg_max(size, {.axis = 1, .keepdims = 1});
        const Value exchange =
            onnx.expand(exchanged(onnx, onnx.unsqueeze(rows, {0}), k, p), Shape{batch, m});
        const Parts turned = ordered_rows(onnx, state[0], exchange);
        const Value next_order = rearranged(onnx, state[1].real, exchange);

        const Parts row = row_of(onnx, turned, k), column = column_of(onnx, turned, k);
        const Parts pivot = stretched(onnx, element_of(onnx, row, k), 1);
        const Value usable = onnx.and_(below, onnx.not_(math.is_zero(pivot)));
        const Parts factor = math.where(usable, math.div(column, pivot), zero(onnx));
        const Parts right = math.where(onnx.greater(columns, k), row, zero(onnx));
        const Parts reduced =
            math.sub(turned, math.mul(stretched(onnx, factor, 2), stretched(onnx, right, 1)));
        const Value place = onnx.and_(onnx.unsqueeze(below, {1}), onnx.equal(columns, k));
        const Parts packed = math.where(place, stretched(onnx, factor, 2), reduced);
        return Stepped{{packed, {next_order, {}}}, {{p, {}}}, {}};
      });
  const Value pivots =
      by_batch(onnx, onnx.squeeze(found.each[0].real, {2}), Shape{batch, symbolic::min(m, n)});
  Emit::set_type(pivots, DType::kInt64, {batch, symbolic::min(m, n)});
  return {found.last[0], pivots, found.last[1].real};
}

Value order_of(Emit& onnx, Value pivots, Expr rows) {
  const Expr batch = pivots.dim(0);
  const Value at = onnx.range(rows);
  const Value start = onnx.expand(onnx.unsqueeze(at, {0}), Shape{batch, rows});
  const Looped found =
      repeat(onnx, onnx.size(pivots.dim(1)), {{start, {}}}, [&](Value k, const State& state) {
        const Value p = onnx.unsqueeze(onnx.gather(pivots, k, {.axis = 1}), {1});
        const Value exchange =
            onnx.expand(exchanged(onnx, onnx.unsqueeze(at, {0}), k, p), Shape{batch, rows});
        return Stepped{{{rearranged(onnx, state[0].real, exchange), {}}}, {}, {}};
      });
  return found.last[0].real;
}

Value permutation_sign(Emit& onnx, Value pivots) {
  const Value moved = onnx.not_(onnx.equal(pivots, onnx.range(pivots.dim(1))));
  const Value count = reduce(onnx, "ReduceSum", onnx.cast(moved, DType::kInt64), 1);
  const Value odd = onnx.equal(onnx.mod(count, onnx.int_scalar(2)), onnx.int_scalar(1));
  return onnx.where(odd, onnx.scalar(-1, DType::kFloat64), onnx.one(DType::kFloat64));
}

Value first_zero_pivot(Emit& onnx, const Parts& packed) {
  const Parts diagonal = diagonal_of(onnx, packed);
  const Expr count = diagonal.real.dim(1);
  const Value number = onnx.add(onnx.range(count), onnx.int_scalar(1));
  const Value none = onnx.size(count + 1);
  const Value zeros = onnx.where(ComplexMath(onnx).is_zero(diagonal), number, none);
  // A column of `none` so that there is something to take the least of.
  const Value guard = onnx.expand(none, Shape{diagonal.real.dim(0), 1});
  const Value first = reduce(onnx, "ReduceMin", onnx.concat({zeros, guard}, 1), 1);
  return onnx.where(onnx.equal(first, none), onnx.int_scalar(0), first);
}

Parts solve_triangle(Emit& onnx, const Parts& t, const Parts& b, bool upper, bool unit) {
  const ComplexMath math(onnx);
  const Expr n = t.real.dim(2);
  const Value rows = onnx.range(n), last = onnx.size(n - 1);
  const Parts start = t.imaginary ? math.complete(b) : b;
  const Looped found = repeat(onnx, onnx.size(n), {start}, [&](Value step, const State& state) {
    const Value k = upper ? onnx.sub(last, step) : step;
    const Parts column = column_of(onnx, t, k), right = row_of(onnx, state[0], k);
    const Parts solved =
        unit ? right : math.div(right, stretched(onnx, element_of(onnx, column, k), 1));
    const Value ahead = upper ? onnx.less(rows, k) : onnx.greater(rows, k);
    const Parts factor = math.where(ahead, column, zero(onnx));
    const Parts reduced =
        math.sub(state[0], math.mul(stretched(onnx, factor, 2), stretched(onnx, solved, 1)));
    const Value place = onnx.unsqueeze(onnx.equal(rows, k), {1});
    return Stepped{{math.where(place, stretched(onnx, solved, 1), reduced)}, {}, {}};
  });
  return found.last[0];
}

Parts solve_with(Emit& onnx, const Lu& lu, const Parts& b) {
  const Parts turned = ordered_rows(onnx, b, lu.order);
  const Parts middle = solve_triangle(onnx, lu.packed, turned, false, true);
  return solve_triangle(onnx, lu.packed, middle, true, false);
}

Cholesky cholesky_factor(Emit& onnx, const Parts& a) {
  const ComplexMath math(onnx);
  const Expr batch = a.real.dim(0), n = a.real.dim(2);
  const Value rows = onnx.range(n);
  const Value sound = onnx.full(Shape{batch}, onnx.int_scalar(0));
  const Looped found =
      repeat(onnx, onnx.size(n), {a, {sound, {}}}, [&](Value k, const State& state) {
        const Parts column = column_of(onnx, state[0], k);
        const Value square = element_of(onnx, {column.real, {}}, k).real;
        const Value good = onnx.greater(square, onnx.zero(DType::kFloat64));
        const Value first =
            onnx.and_(onnx.not_(good), onnx.equal(state[1].real, onnx.int_scalar(0)));
        const Value failed = onnx.where(first, onnx.add(k, onnx.int_scalar(1)), state[1].real);
        const Value root = onnx.unsqueeze(onnx.sqrt(square), {1});
        const Value below = onnx.greater(rows, k), at = onnx.equal(rows, k);
        const Parts rest = math.where(below, math.div(column, {root, {}}), zero(onnx));
        const Parts whole = math.where(at, {root, {}}, rest);
        const Parts product =
            math.mul(stretched(onnx, rest, 2), math.conj(stretched(onnx, rest, 1)));
        const Parts reduced = math.sub(state[0], product);
        return Stepped{{math.where(at, stretched(onnx, whole, 2), reduced), {failed, {}}}, {}, {}};
      });
  return {lower_triangle(onnx, found.last[0]), found.last[1].real};
}

}  // namespace sardonyx::aten

// QR by Householder's reflections; eigenvalues and singular values by Jacobi's rotations.
#include <cmath>

#include "aten/elementwise/operands.h"
#include "aten/matrices/factorizations.h"

namespace sardonyx::aten {
namespace {

Value reduce(Emit& onnx, std::string_view op, Value x, std::int64_t axis) {
  return onnx.reduce(op, x, {&axis, 1}, false);
}

Parts at_column(Emit& onnx, const Parts& x, Value k) {
  return each_part(x, [&](Value part) { return onnx.gather(part, k, {.axis = 2}); });
}
Parts stretched(Emit& onnx, const Parts& x, std::int64_t axis) {
  return each_part(x, [&](Value part) { return onnx.unsqueeze(part, {axis}); });
}
Value number(Emit& onnx, double value) { return onnx.scalar(value, DType::kFloat64); }
Parts zero(Emit& onnx) { return {number(onnx, 0), {}}; }

// The reflection 1 - tau v v^H whose adjoint turns x (of which alpha is the element that stays)
// into beta; v is 1 there. Of a column that is 0 below alpha, tau is 0.
struct Reflection {
  Value beta;
  Parts tau, scale;  // v = x * scale below
};
Reflection reflection(Emit& onnx, const Parts& alpha, Value squares_below) {
  const ComplexMath math(onnx);
  const Value size = onnx.sqrt(onnx.add(math.squared_abs(alpha), squares_below));
  const Value beta = onnx.where(has_sign(onnx, alpha.real), size, onnx.neg(size));
  Value nothing = onnx.equal(squares_below, number(onnx, 0));
  if (alpha.imaginary) {
    nothing = onnx.and_(nothing, onnx.equal(alpha.imaginary, number(onnx, 0)));
  }
  const Parts distance = math.sub({beta, {}}, alpha);
  const Parts tau = math.where(nothing, zero(onnx), math.div(distance, {beta, {}}));
  const Parts scale = math.where(nothing, zero(onnx), math.reciprocal(math.neg(distance)));
  return {onnx.where(nothing, alpha.real, beta), tau, scale};
}

// C - tau v (v^H C), for v [batch, m].
Parts turned(Emit& onnx, const Parts& c, const Parts& v, const Parts& tau) {
  const ComplexMath math(onnx);
  const Parts column = stretched(onnx, v, 2);
  const Parts product = math.matmul(adjoint(onnx, column), c);
  return math.sub(c, math.mul(math.mul(stretched(onnx, tau, 2), column), product));
}

}  // namespace

Reflections householder(Emit& onnx, const Parts& a) {
  const ComplexMath math(onnx);
  const Expr batch = a.real.dim(0), m = a.real.dim(1), n = a.real.dim(2);
  const Value rows = onnx.range(m), columns = onnx.range(n);
  const Looped found =
      repeat(onnx, onnx.size(symbolic::min(m, n)), {a}, [&](Value k, const State& state) {
        const Parts column = at_column(onnx, state[0], k);
        const Value below = onnx.greater(rows, k), at = onnx.equal(rows, k);
        const Parts rest = math.where(below, column, zero(onnx));
        const Parts alpha =
            each_part(column, [&](Value part) { return onnx.gather(part, k, {.axis = 1}); });
        const Reflection h =
            reflection(onnx, alpha, reduce(onnx, "ReduceSum", math.squared_abs(rest), 1));
        const Parts one = {number(onnx, 1), {}};
        const Parts v = math.where(at, one, math.mul(rest, stretched(onnx, h.scale, 1)));
        const Parts tau = stretched(onnx, h.tau, 1);
        const Parts applied = turned(onnx, state[0], v, math.conj(tau));
        const Parts kept = math.where(onnx.greater(columns, k), applied, state[0]);
        const Parts own =
            math.where(at, {onnx.unsqueeze(h.beta, {1}), {}}, math.where(below, v, column));
        const Parts packed = math.where(onnx.equal(columns, k), stretched(onnx, own, 2), kept);
        return Stepped{{packed}, {h.tau}, {}};
      });
  const Parts tau = each_part(found.each[0], [&](Value part) {
    const Value moved = by_batch(onnx, part, Shape{batch, symbolic::min(m, n)});
    Emit::set_type(moved, part.dtype(), {batch, symbolic::min(m, n)});
    return moved;
  });
  return {found.last[0], tau};
}

Parts reflected(Emit& onnx, const Reflections& h, const Parts& c, bool adjoint) {
  const ComplexMath math(onnx);
  const Expr count = h.tau.real.dim(1);
  const Value rows = onnx.range(h.packed.real.dim(1)), last = onnx.size(count - 1);
  const Parts start = h.packed.imaginary ? math.complete(c) : c;
  return repeat(onnx, onnx.size(count), {start},
                [&](Value step, const State& state) {
                  // The product acts from its last reflection on, its adjoint from the first.
                  const Value k = adjoint ? step : onnx.sub(last, step);
                  const Parts one = {number(onnx, 1), {}};
                  const Parts below =
                      math.where(onnx.greater(rows, k), at_column(onnx, h.packed, k), zero(onnx));
                  const Parts v = math.where(onnx.equal(rows, k), one, below);
                  const Parts tau = each_part(h.tau, [&](Value part) {
                    return onnx.unsqueeze(onnx.gather(part, k, {.axis = 1}), {1});
                  });
                  return Stepped{
                      {turned(onnx, state[0], v, adjoint ? math.conj(tau) : tau)}, {}, {}};
                })
      .last[0];
}

Parts orthogonal_factor(Emit& onnx, const Reflections& h, Expr columns) {
  const Parts start = identity_matrix(onnx, h.packed, h.packed.real.dim(1), columns);
  return reflected(onnx, h, start, false);
}

namespace {

// Who is rotated with whom: in each round every index has one partner (itself where it has none),
// and in n - 1 rounds (n even) each pair meets once, as in a round-robin tournament.
struct Tournament {
  Value partners;  // int64 [rounds, n]
  Value rounds;    // int64
};
Tournament tournament(Emit& onnx, Expr n) {
  const Expr players = n + symbolic::mod(n, 2), rounds = symbolic::max(players - 1, 1);
  const Value round = onnx.unsqueeze(onnx.range(rounds), {1});
  const Value self = onnx.unsqueeze(onnx.range(n), {0});
  const Value modulus = onnx.size(rounds), last = onnx.size(players - 1);
  const Value plain = onnx.mod(onnx.sub(round, self), modulus);
  const Value half = onnx.size(symbolic::floor_div(players, 2));
  const Value of_last = onnx.mod(onnx.mul(round, half), modulus);
  const Value met = onnx.where(onnx.equal(plain, self), last, plain);
  const Value partner = onnx.where(onnx.equal(self, last), of_last, met);
  return {onnx.where(onnx.greater_or_equal(partner, onnx.size(n)), self, partner), modulus};
}

// The rotations of one round: column i becomes cosine_i x_i - sine_i x_partner. They make the
// elements a_i,partner of a Hermitian matrix with this diagonal 0.
struct Rotation {
  Value cosine;
  Parts sine;
};
Rotation rotation(Emit& onnx, Value self, Value partner, Value diagonal, const Parts& element) {
  const ComplexMath math(onnx);
  const Value size = math.abs(element), one = number(onnx, 1), zeroes = number(onnx, 0);
  const Value active = onnx.and_(onnx.not_(onnx.equal(self, partner)), onnx.greater(size, zeroes));
  const Value difference = onnx.sub(onnx.gather(diagonal, partner, {.axis = 1}), diagonal);
  const Value divisor = onnx.where(active, size, one);
  const Value tau = onnx.div(difference, onnx.mul(divisor, number(onnx, 2)));
  const Value order = onnx.where(onnx.less(self, partner), one, number(onnx, -1));
  const Value sign = onnx.where(onnx.equal(tau, zeroes), order, onnx.sign(tau));
  const Value root = onnx.sqrt(onnx.add(onnx.mul(tau, tau), one));
  const Value tangent = onnx.where(active, onnx.div(sign, onnx.add(onnx.abs(tau), root)), zeroes);
  const Value cosine = onnx.reciprocal(onnx.sqrt(onnx.add(onnx.mul(tangent, tangent), one)));
  const Parts phase = math.div(math.conj(element), {divisor, {}});
  return {cosine, math.mul({onnx.mul(tangent, cosine), {}}, phase)};
}

Parts rotated_columns(Emit& onnx, const Parts& x, Value partner, const Rotation& r) {
  const ComplexMath math(onnx);
  const Parts others =
      each_part(x, [&](Value part) { return onnx.gather(part, partner, {.axis = 2}); });
  return math.sub(math.mul(x, {onnx.unsqueeze(r.cosine, {1}), {}}),
                  math.mul(others, stretched(onnx, r.sine, 1)));
}

// Rotations go on until a whole tournament has found nothing left to do, at most this often.
constexpr std::int64_t kSweeps = 30;
// Off-diagonal elements below this share of the matrix count as zeros.
constexpr double kNegligible = 1e-14;

// What is left of this tournament, the largest share so far; and whether to go on.
struct Progress {
  Value worst, again;
};
Progress progress(Emit& onnx, Value round, Value rounds, Value before, Value share) {
  const std::vector<std::int64_t> axes = {0, 1};
  const Value here = onnx.reduce("ReduceMax", share, axes, false);
  const Value first = onnx.equal(round, onnx.int_scalar(0));
  const Value worst = onnx.max({onnx.where(first, number(onnx, 0), before), here});
  const Value ended = onnx.equal(onnx.add(round, onnx.int_scalar(1)), rounds);
  const Value small = onnx.less(worst, number(onnx, kNegligible));
  return {worst, onnx.not_(onnx.and_(ended, small))};
}

Value steps_of(Emit& onnx, const Tournament& games) {
  return onnx.mul(games.rounds, onnx.int_scalar(kSweeps));
}

}  // namespace

Eigen hermitian_eigen(Emit& onnx, const Parts& a, bool vectors) {
  const ComplexMath math(onnx);
  const Expr batch = a.real.dim(0), n = a.real.dim(2);
  const Tournament games = tournament(onnx, n);
  const Value self = onnx.range(n);
  const std::vector<std::int64_t> matrix = {1, 2};
  const Value largest = onnx.reduce("ReduceMax", math.abs(a), matrix, true);
  const Value scale =
      onnx.squeeze(onnx.where(onnx.equal(largest, number(onnx, 0)), number(onnx, 1), largest), {2});
  State start = {a, {number(onnx, 0), {}}};
  if (vectors) start.push_back(identity_matrix(onnx, a, n, n));
  const Looped found = repeat(onnx, steps_of(onnx, games), start, [&](Value k, const State& state) {
    const Value round = onnx.mod(k, games.rounds);
    const Value partner = onnx.gather(games.partners, round);
    const Value mask = onnx.equal(onnx.unsqueeze(partner, {1}), onnx.unsqueeze(self, {0}));
    const Parts element = each_part(state[0], [&](Value part) {
      return reduce(onnx, "ReduceSum", onnx.where(mask, part, number(onnx, 0)), 2);
    });
    const Value diagonal = diagonal_of(onnx, {state[0].real, {}}).real;
    const Rotation r = rotation(onnx, self, partner, diagonal, element);
    const Parts half = rotated_columns(onnx, state[0], partner, r);
    const Parts whole = adjoint(onnx, rotated_columns(onnx, adjoint(onnx, half), partner, r));
    const Value share =
        onnx.where(onnx.equal(self, partner), number(onnx, 0), onnx.div(math.abs(element), scale));
    const Progress left = progress(onnx, round, games.rounds, state[1].real, share);
    State next = {whole, {left.worst, {}}};
    if (vectors) next.push_back(rotated_columns(onnx, state[2], partner, r));
    return Stepped{next, {}, left.again};
  });
  const Value diagonal = diagonal_of(onnx, {found.last[0].real, {}}).real;
  const auto sorted = onnx.topk(diagonal, onnx.sizes({n}), {.axis = 1, .largest = 0});
  Emit::set_type(sorted[0], DType::kFloat64, {batch, n});
  Emit::set_type(sorted[1], DType::kInt64, {batch, n});
  return {sorted[0], vectors ? ordered_columns(onnx, found.last[2], sorted[1]) : Parts{}};
}

Orthogonalized one_sided_jacobi(Emit& onnx, const Parts& a, bool right) {
  const ComplexMath math(onnx);
  const Expr batch = a.real.dim(0), n = a.real.dim(2);
  const Tournament games = tournament(onnx, n);
  const Value self = onnx.range(n);
  const std::vector<std::int64_t> matrix = {1, 2};
  const auto squares = [&](const Parts& x) {
    return reduce(onnx, "ReduceSum", math.squared_abs(x), 1);
  };
  const Value total = onnx.reduce("ReduceSum", math.squared_abs(a), matrix, true);
  // Columns this short are noise beside the others.
  const Value noise = onnx.mul(onnx.squeeze(total, {2}), number(onnx, 1e-29));
  State start = {a, {number(onnx, 0), {}}};
  if (right) start.push_back(identity_matrix(onnx, a, n, n));
  const Looped found = repeat(onnx, steps_of(onnx, games), start, [&](Value k, const State& state) {
    const Value round = onnx.mod(k, games.rounds);
    const Value partner = onnx.gather(games.partners, round);
    const Parts others =
        each_part(state[0], [&](Value part) { return onnx.gather(part, partner, {.axis = 2}); });
    const Parts products = math.mul(math.conj(state[0]), others);
    const Parts element =
        each_part(products, [&](Value part) { return reduce(onnx, "ReduceSum", part, 1); });
    const Value lengths = squares(state[0]);
    const Rotation r = rotation(onnx, self, partner, lengths, element);
    const Value theirs = onnx.gather(lengths, partner, {.axis = 1});
    const Value counts =
        onnx.and_(onnx.not_(onnx.equal(self, partner)),
                  onnx.and_(onnx.greater(lengths, noise), onnx.greater(theirs, noise)));
    const Value product = onnx.sqrt(onnx.mul(lengths, theirs));
    const Value share = onnx.where(counts, onnx.div(math.abs(element), product), number(onnx, 0));
    const Progress left = progress(onnx, round, games.rounds, state[1].real, share);
    State next = {rotated_columns(onnx, state[0], partner, r), {left.worst, {}}};
    if (right) next.push_back(rotated_columns(onnx, state[2], partner, r));
    return Stepped{next, {}, left.again};
  });
  const Value lengths = onnx.sqrt(squares(found.last[0]));
  const auto sorted = onnx.topk(lengths, onnx.sizes({n}), {.axis = 1});
  Emit::set_type(sorted[0], DType::kFloat64, {batch, n});
  Emit::set_type(sorted[1], DType::kInt64, {batch, n});
  return {ordered_columns(onnx, found.last[0], sorted[1]),
          right ? ordered_columns(onnx, found.last[2], sorted[1]) : Parts{}, sorted[0]};
}

}  // namespace sardonyx::aten

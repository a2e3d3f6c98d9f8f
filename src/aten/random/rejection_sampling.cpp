// Random numbers that take an unknown number of draws: gamma, Dirichlet, Poisson and binomial ones.
// A loop draws for all elements at once until each has its number.
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/matrices/matrices.h"

namespace sardonyx::aten {
namespace {

constexpr DType kDrawn = DType::kFloat64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value number(Emit& onnx, double value) { return onnx.scalar(value, kDrawn); }

// In (0, 1], so that its logarithm is finite.
Value uniform_like(Emit& onnx, Value x) {
  const Value drawn = onnx.random_uniform_like(x, {.dtype = kDrawn, .high = 1, .low = 0});
  return onnx.sub(number(onnx, 1), drawn);
}

Value any(Emit& onnx, Value condition) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(condition.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  const Value ones = onnx.cast(condition, DType::kInt64);
  const Value count = axes.empty() ? ones : onnx.reduce("ReduceSum", ones, axes, false);
  return onnx.greater(count, onnx.int_scalar(0));
}

// As many steps as it takes.
State until_done(Emit& onnx, const State& start,
                 const std::function<Stepped(Value, const State&)>& step) {
  return repeat(onnx, onnx.int_scalar(std::numeric_limits<std::int64_t>::max()), start, step).last;
}

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), for shapes >= 1:
// d (1 + c N)^3 with d = shape - 1/3, c = 1 / sqrt(9 d), where it is accepted.
Value gamma_above_one(Emit& onnx, Value shape) {
  const Value d = onnx.sub(shape, number(onnx, 1.0 / 3));
  const Value c = onnx.reciprocal(onnx.sqrt(onnx.mul(d, number(onnx, 9))));
  // No other shape would ever be accepted; it is its own answer.
  const Value proper = onnx.and_(onnx.greater_or_equal(shape, number(onnx, 1)),
                                 onnx.less(shape, number(onnx, kInfinity)));
  const auto step = [&](Value /*k*/, const State& state) {
    const Value found = state[0].real, open = state[1].real;
    const Value normal = onnx.random_normal_like(found, {.dtype = kDrawn, .mean = 0, .scale = 1});
    const Value t = onnx.add(number(onnx, 1), onnx.mul(c, normal));
    const Value v = onnx.mul(t, onnx.mul(t, t));
    const Value half = onnx.mul(number(onnx, 0.5), onnx.mul(normal, normal));
    const Value bound =
        onnx.add(half, onnx.mul(d, onnx.add(onnx.sub(number(onnx, 1), v), onnx.log(v))));
    const Value below = onnx.less(onnx.log(uniform_like(onnx, found)), bound);
    const Value accepted = onnx.and_(open, onnx.and_(onnx.greater(t, number(onnx, 0)), below));
    const Value rest = onnx.and_(open, onnx.not_(accepted));
    return Stepped{
        {{onnx.where(accepted, onnx.mul(d, v), found), {}}, {rest, {}}}, {}, any(onnx, rest)};
  };
  return until_done(onnx, {{shape, {}}, {proper, {}}}, step)[0].real;
}

// Below 1: a number for shape + 1, times U^(1 / shape).
Value gamma_numbers(Emit& onnx, Value shape) {
  const Value small = onnx.less(shape, number(onnx, 1));
  const Value raised = onnx.where(small, onnx.add(shape, number(onnx, 1)), shape);
  const Value drawn = gamma_above_one(onnx, raised);
  const Value factor = onnx.pow(uniform_like(onnx, shape), onnx.reciprocal(shape));
  return onnx.where(small, onnx.mul(drawn, factor), drawn);
}

// No smaller than the least normal number, as PyTorch's.
Value above_zero(const Call& call, Emit& onnx, Value x) {
  const double least = call.result_dtype() == DType::kFloat64
                           ? std::numeric_limits<double>::min()
                           : double{std::numeric_limits<float>::min()};
  return onnx.where(onnx.less(x, number(onnx, least)), number(onnx, least), x);
}

Outputs standard_gamma(const Call& call, Emit& onnx) {
  const Value drawn = gamma_numbers(onnx, onnx.cast(call.tensor("self"), kDrawn));
  return {cast_to_result(onnx, call, above_zero(call, onnx, drawn))};
}

// Gamma numbers by their sum.
Outputs sample_dirichlet(const Call& call, Emit& onnx) {
  const Value drawn = gamma_numbers(onnx, onnx.cast(call.tensor("self"), kDrawn));
  const std::vector<std::int64_t> last = {-1};
  const Value share = onnx.div(drawn, onnx.reduce("ReduceSum", drawn, last, true));
  return {cast_to_result(onnx, call, above_zero(call, onnx, share))};
}

// How many waits fit into `time`; `wait` draws one for every element.
Value arrivals(Emit& onnx, Value time, const std::function<Value()>& wait) {
  const Value finite = onnx.less(time, number(onnx, kInfinity));
  const auto step = [&](Value /*k*/, const State& state) {
    const Value passed = onnx.add(state[0].real, wait());
    const Value fits = onnx.and_(state[2].real, onnx.less_or_equal(passed, time));
    const Value count = onnx.add(state[1].real, onnx.cast(fits, kDrawn));
    return Stepped{{{passed, {}}, {count, {}}, {fits, {}}}, {}, any(onnx, fits)};
  };
  const Value zeros = onnx.full(time.shape(), number(onnx, 0));
  return until_done(onnx, {{zeros, {}}, {zeros, {}}, {finite, {}}}, step)[1].real;
}

// Exponential waits.
Outputs poisson(const Call& call, Emit& onnx) {
  const Value rate = onnx.cast(call.tensor("self"), kDrawn);
  const auto wait = [&] { return onnx.neg(onnx.log(uniform_like(onnx, rate))); };
  return {cast_to_result(onnx, call, arrivals(onnx, rate, wait))};
}

// Geometric waits for the rarer of the two results (Devroye 1986, X.4.3); NaN where a parameter is.
Outputs binomial(const Call& call, Emit& onnx) {
  const Shape& shape = call.result_shape();
  const Value trials = onnx.expand(onnx.cast(call.tensor("count"), kDrawn), shape);
  const Value p = onnx.expand(onnx.cast(call.tensor("prob"), kDrawn), shape);
  const Value likely = onnx.greater(p, number(onnx, 0.5));
  const Value rare = onnx.where(likely, onnx.sub(number(onnx, 1), p), p);
  // Waits for what never happens would not end.
  const Value possible = onnx.greater(rare, number(onnx, 0));
  const Value scale = log_one_plus(onnx, onnx.neg(onnx.where(possible, rare, number(onnx, 0.5))));
  const auto wait = [&] {
    const Value missed = onnx.floor(onnx.div(onnx.log(uniform_like(onnx, p)), scale));
    return onnx.add(missed, number(onnx, 1));
  };
  const Value found = onnx.where(possible, arrivals(onnx, trials, wait), number(onnx, 0));
  const Value result = onnx.where(likely, onnx.sub(trials, found), found);
  return {cast_to_result(onnx, call, onnx.where(onnx.is_nan(p), p, result))};
}

constexpr Row kRows[] = {
    {"aten::_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor", sample_dirichlet},
    {"aten::_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", standard_gamma},
    {"aten::binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", binomial},
    {"aten::poisson(Tensor self, Generator? generator=None) -> Tensor", poisson},
};

}  // namespace

std::span<const Row> rejection_sampling_rows() { return kRows; }

}  // namespace sardonyx::aten

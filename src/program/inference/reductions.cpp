// Results of what reduces dimensions, sorts or accumulates along them.
#include <algorithm>

#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

// Without the dimensions in `dim` (all of them where it is None or empty).
Sizes reduced(const Bound& call) {
  const Sizes& shape = call.self().shape;
  std::vector<bool> gone(shape.size(), true);
  if (call.has("dim") && !call.sizes("dim").empty()) {
    gone.assign(shape.size(), false);
    for (const std::int64_t dim : call.integers("dim")) {
      const std::size_t axis = call.axis(dim, shape.size());
      if (axis < gone.size()) gone[axis] = true;
    }
  }
  const bool keep = call.flag("keepdim");
  Sizes result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!gone[i]) {
      result.push_back(shape[i]);
    } else if (keep) {
      result.emplace_back(1);
    }
  }
  return result;
}

TensorTypes sum(const Bound& call) {
  const DType own = call.self().dtype;
  return {{call.dtype().value_or(counts_up(own) ? DType::kInt64 : own), reduced(call), {}}};
}

TensorTypes mean(const Bound& call) {
  return {{call.dtype().value_or(call.self().dtype), reduced(call), {}}};
}

TensorTypes deviation(const Bound& call) {
  return {{call.dtype().value_or(base::real_of(call.self().dtype)), reduced(call), {}}};
}

TensorTypes mean_and_deviation(const Bound& call) {
  TensorTypes one = deviation(call);
  return {one.front(), one.front()};
}

// Of bytes, PyTorch's older truths, they are bytes.
TensorTypes truth(const Bound& call) {
  const bool bytes = call.self().dtype == DType::kUInt8;
  return {{bytes ? DType::kUInt8 : DType::kBool, reduced(call), {}}};
}

TensorTypes log_sum(const Bound& call) {
  return {{as_floating(call.self().dtype), reduced(call), {}}};
}

TensorTypes position(const Bound& call) { return {{DType::kInt64, reduced(call), {}}}; }
TensorTypes own(const Bound& call) { return {{call.self().dtype, reduced(call), {}}}; }

// max(x), max(x, y), max(x, dim)
TensorTypes extreme(const Bound& call) {
  if (const Value* other = call.optional_tensor("other")) {
    Promotion promotion;
    promotion.add(call.self());
    promotion.add(*other);
    return {{promotion.dtype(), call.broadcast(call.self().shape, other->shape), {}}};
  }
  TensorTypes results = own(call);
  if (call.has("dim")) results.push_back({DType::kInt64, results.front().shape, {}});
  return results;
}

TensorTypes accumulated(const Bound& call) {
  TensorType result = like(call.self(), call.self().shape);
  if (counts_up(result.dtype)) result.dtype = DType::kInt64;
  result.dtype = call.dtype().value_or(result.dtype);
  return {result};
}

TensorTypes accumulated_extreme(const Bound& call) {
  const TensorType result = like(call.self(), call.self().shape);
  return {result, {DType::kInt64, result.shape, {}}};
}

TensorTypes positions(const Bound& call) { return {{DType::kInt64, call.self().shape, {}}}; }

TensorTypes topk(const Bound& call) {
  Sizes shape = call.self().shape;
  const std::size_t axis = call.axis("dim", shape.size());
  if (axis < shape.size()) shape[axis] = call.size("k");
  return {{call.self().dtype, shape, {}}, {DType::kInt64, shape, {}}};
}

// Each element less the one before it, `n` times over; what is put in front and behind counts.
TensorTypes differences(const Bound& call) {
  if (call.size("n").is(0)) return {like(call.self())};  // whatever the axis
  Sizes shape = call.self().shape;
  const std::size_t axis = call.axis("dim", shape.size());
  Expr& size = shape.at(axis);
  for (const char* name : {"prepend", "append"}) {
    if (const Value* added = call.optional_tensor(name))
      size = size + (added->rank() == 0 ? Expr(1) : added->shape.at(axis));
  }
  size = symbolic::max(size - call.size("n"), 0);
  const DType dtype = call.self().dtype;
  return {{dtype, std::move(shape), {}}};
}

TensorTypes glu(const Bound& call) {
  Sizes shape = call.self().shape;
  Expr& size = shape.at(call.axis("dim", shape.size()));
  size = symbolic::floor_div(size, 2);
  return {like(call.self(), std::move(shape))};
}

// The values, and where they stand.
TensorTypes chosen(const Bound& call) {
  TensorTypes results = own(call);
  results.push_back({DType::kInt64, results.front().shape, {}});
  return results;
}

TensorTypes both_extremes(const Bound& call) {
  const TensorType one = own(call).front();
  return {one, one};
}

// One number, or one for each of several quantiles, which stand in front.
TensorTypes quantile(const Bound& call) {
  Sizes shape = reduced(call);
  const Value* several = call.optional_tensor("q");
  if (several && several->rank() == 1) shape.insert(shape.begin(), several->shape[0]);
  return {like(call.self(), std::move(shape))};
}

TensorTypes one_number(const Bound& call) { return {{call.self().dtype, {}, {}}}; }

// Along one axis, whose elements lie between its points.
TensorTypes trapezoid(const Bound& call) {
  Sizes shape = call.self().shape;
  const Value* points = call.optional_tensor("x");
  if (points && points->rank() > 1) shape = call.broadcast(shape, points->shape);
  const std::size_t axis = call.axis("dim", shape.size());
  const bool is_whole = call.name() != "cumulative_trapezoid";
  // Of no points, PyTorch gives zeros of their own type.
  const bool has_none = is_whole && shape.at(axis).is(0);
  if (!is_whole) {
    shape.at(axis) = symbolic::max(shape.at(axis) - 1, 0);
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  const DType own = call.self().dtype;
  return {{counts_up(own) && !has_none ? DType::kFloat32 : own, std::move(shape), {}}};
}

// How variables, which stand in rows, vary together. PyTorch squeezes the result: one variable has
// a number. Where a dynamic size decides, the front end does.
TensorTypes covariance(const Bound& call) {
  const Value& self = call.self();
  DType dtype = counts_up(self.dtype) ? DType::kFloat32 : self.dtype;
  if (call.schema().base_name() == "cov" && call.has("aweights") &&
      call.tensor("aweights").dtype == DType::kFloat64)
    dtype = base::is_complex(dtype) ? base::complex_of(DType::kFloat64) : DType::kFloat64;
  if (self.rank() < 2 || self.shape[0].constant() == 1) return {{dtype, {}, {}}};
  return {{dtype, {self.shape[0], self.shape[0]}, {}}};
}

constexpr ResultRow kRows[] = {
    {"sum prod nansum", sum},
    {"mean nanmean", mean},
    {"logsumexp special_logsumexp", log_sum},
    {"var std norm linalg_vector_norm frobenius_norm linalg_norm linalg_matrix_norm "
     "nuclear_norm",
     deviation},
    {"var_mean std_mean", mean_and_deviation},
    {"all any", truth},
    {"argmax argmin count_nonzero", position},
    {"amax amin", own},
    {"max min median nanmedian", extreme},
    {"cumsum cumprod", accumulated},
    {"logcumsumexp",
     [](const Bound& call) { return TensorTypes{like(call.self(), call.self().shape)}; }},
    {"cummax cummin sort", accumulated_extreme},
    {"kthvalue mode", chosen},
    {"aminmax _aminmax", both_extremes},
    {"quantile nanquantile", quantile},
    {"dist", one_number},
    {"trapezoid trapz cumulative_trapezoid", trapezoid},
    {"cov corrcoef", covariance},
    {"argsort", positions},
    {"topk", topk},
    {"diff", differences},
    {"glu", glu},
};

}  // namespace

std::span<const ResultRow> reduction_results() { return kRows; }

}  // namespace sardonyx::program

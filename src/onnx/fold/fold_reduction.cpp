// Reductions of integer constants, as shape arithmetic uses them, and of real weights.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx::folding {
namespace {

using Combine = std::int64_t (*)(std::int64_t, std::int64_t);

// What is reduced along which axes.
struct Plan {
  Dims kept;     // the shape of the result, with ones for the axes that go
  Dims dims;     // as the node gives it
  Dims strides;  // from an index of the input to the element of the result
};

std::optional<Plan> plan_of(const Operands& o, const Tensor& x) {
  const auto rank = static_cast<std::int64_t>(x.dims.size());
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  const bool given = o.at(1) != nullptr || o.node.ints("axes") != nullptr;
  if (given) {
    const auto found = axes_of(o, 1, rank);
    if (!found) return {};
    if (!found->empty()) axes = *found;
    if (found->empty() && o.node.int_or("noop_with_empty_axes", 0) != 0) return {};
  }
  const bool keep = o.node.int_or("keepdims", 1) != 0;
  Plan plan;
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    const bool goes = std::ranges::find(axes, static_cast<std::int64_t>(i)) != axes.end();
    plan.kept.push_back(goes ? 1 : x.dims[i]);
    if (keep || !goes) plan.dims.push_back(plan.kept.back());
  }
  if (!o.count(plan.kept)) return {};
  plan.strides = broadcast_strides(plan.kept, x.dims);
  return plan;
}

// Calls visit(element of the input, element of the result).
template <class Visit>
void each_element(const Plan& plan, const Tensor& x, const Visit& visit) {
  each_index(x.dims, [&](std::int64_t i, const Dims& index) {
    visit(static_cast<std::size_t>(i),
          static_cast<std::size_t>(std::inner_product(index.begin(), index.end(),
                                                      plan.strides.begin(), std::int64_t{0})));
  });
}

std::size_t count_of(const Dims& dims) {
  return static_cast<std::size_t>(
      std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()));
}

// Empty ranges are left to the runtime: only sums and products have a neutral element.
Result reduce(const Operands& o, Combine combine) {
  const Tensor* x = o.at(0);
  if (x == nullptr || (x->dtype != DType::kInt64 && x->dtype != DType::kInt32)) return {};
  const auto values = x->ints();
  const auto plan = plan_of(o, *x);
  if (!values || values->empty() || !plan) return {};
  std::vector<std::optional<std::int64_t>> results(count_of(plan->kept));
  each_element(*plan, *x, [&](std::size_t from, std::size_t to) {
    results[to] = results[to] ? combine(*results[to], (*values)[from]) : (*values)[from];
  });
  std::vector<std::byte> bytes(results.size() * 8);
  const std::int64_t width = base::bit_width(x->dtype) / 8;
  for (std::size_t i = 0; i < results.size(); ++i) {
    store_int(x->dtype, results[i].value_or(0),
              bytes.data() + static_cast<std::int64_t>(i) * width);
  }
  bytes.resize(results.size() * static_cast<std::size_t>(width));
  return {{Tensor::of_bytes(x->dtype, plan->dims, bytes)}};
}

double itself(double x) { return x; }
double squared(double x) { return x * x; }
double the_sum(double sum, double /*count*/) { return sum; }

// Whether a sum of whole numbers is the same in whatever order a runtime adds them.
bool is_exact(const Tensor& x, double (*each)(double)) {
  const double most = x.dtype == DType::kFloat64 ? 0x1p53 : x.dtype == DType::kFloat32 ? 0x1p24 : 0;
  const auto values = x.reals();
  double sum = 0;
  return values && std::ranges::all_of(*values, [&](double value) {
           sum += std::abs(each(value));
           const bool is_negative_zero = value == 0 && std::signbit(value);
           return value == std::trunc(value) && sum <= most && !is_negative_zero;
         });
}

// Sums over real numbers of `each` of them, and what `last` makes of a sum over so many.
Result sum_up(const Operands& o, double (*each)(double), double (*last)(double sum, double count)) {
  const Tensor* x = o.at(0);
  if (x == nullptr || !base::is_floating(x->dtype)) return {};
  if (o.weights == Weights::kKeep && (last != the_sum || !is_exact(*x, each))) return {};
  const auto plan = plan_of(o, *x);
  const std::int64_t count = x->element_count();
  if (count == 0 || !plan) return {};
  const std::int64_t width = base::bit_width(x->dtype) / 8;
  std::vector<double> sums(count_of(plan->kept));
  each_element(*plan, *x, [&](std::size_t from, std::size_t to) {
    sums[to] += each(load_real(x->dtype, x->data + static_cast<std::int64_t>(from) * width));
  });
  std::vector<std::byte> bytes(sums.size() * static_cast<std::size_t>(width));
  const double of_each = static_cast<double>(count) / static_cast<double>(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    store_real(x->dtype, last(sums[i], of_each),
               bytes.data() + static_cast<std::int64_t>(i) * width);
  }
  return {{Tensor::of_bytes(x->dtype, plan->dims, bytes)}};
}

Result reduce_mean(const Operands& o) {
  return sum_up(o, itself, [](double sum, double count) { return sum / count; });
}
Result reduce_l2(const Operands& o) {
  return sum_up(o, squared, [](double sum, double /*count*/) { return std::sqrt(sum); });
}
Result reduce_sum_square(const Operands& o) { return sum_up(o, squared, the_sum); }

Result reduce_sum(const Operands& o) {
  if (o.at(0) != nullptr && base::is_floating(o.at(0)->dtype)) return sum_up(o, itself, the_sum);
  return reduce(o, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  });
}
Result reduce_prod(const Operands& o) {
  return reduce(o, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  });
}
Result reduce_max(const Operands& o) {
  return reduce(o, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}
Result reduce_min(const Operands& o) {
  return reduce(o, [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
}

// What lies along an axis, combined up to each one.
template <class Number, class Combine>
std::vector<Number> up_to_each(std::vector<Number> values, const Dims& dims, std::size_t along,
                               const Combine& combine) {
  const auto step = static_cast<std::size_t>(row_major(dims)[along]);
  each_index(dims, [&](std::int64_t i, const Dims& index) {
    const auto here = static_cast<std::size_t>(i);
    if (index[along] > 0) values[here] = combine(values[here - step], values[here]);
  });
  return values;
}

template <class Combine>
Result accumulated(const Operands& o, const Combine& combine) {
  const Tensor *x = o.at(0), *at = o.at(1);
  const auto axis_of = at != nullptr ? at->ints() : std::nullopt;
  if (x == nullptr || !axis_of || axis_of->size() != 1) return {};
  if (o.node.int_or("exclusive", 0) != 0 || o.node.int_or("reverse", 0) != 0) return {};
  const auto rank = static_cast<std::int64_t>(x->dims.size());
  const std::int64_t axis = axis_of->front() < 0 ? axis_of->front() + rank : axis_of->front();
  if (axis < 0 || axis >= rank) return {};
  const auto along = static_cast<std::size_t>(axis);
  if (x->dtype == DType::kInt64) {
    const auto ints = x->ints();
    if (!ints) return {};
    const auto all =
        up_to_each(std::vector<std::uint64_t>(ints->begin(), ints->end()), x->dims, along, combine);
    return {{Tensor::of_ints(std::vector<std::int64_t>(all.begin(), all.end()), x->dims)}};
  }
  const bool rounds_off = o.weights == Weights::kFold && x->dtype == DType::kFloat32;
  const auto reals = rounds_off ? x->reals() : std::nullopt;
  if (!reals) return {};
  const auto all = up_to_each(*reals, x->dims, along, combine);
  const std::vector<float> rounded(all.begin(), all.end());
  return {{Tensor::of_bytes(x->dtype, x->dims, std::as_bytes(std::span(rounded)))}};
}

Result cumulative_sum(const Operands& o) {
  return accumulated(o, [](auto before, auto each) { return before + each; });
}
Result cumulative_product(const Operands& o) {
  return accumulated(o, [](auto before, auto each) { return before * each; });
}

constexpr Entry kEntries[] = {
    {"CumProd", cumulative_product},
    {"CumSum", cumulative_sum},
    {"ReduceL2", reduce_l2},
    {"ReduceMax", reduce_max},
    {"ReduceMean", reduce_mean},
    {"ReduceMin", reduce_min},
    {"ReduceProd", reduce_prod},
    {"ReduceSum", reduce_sum},
    {"ReduceSumSquare", reduce_sum_square},
};

}  // namespace

std::span<const Entry> reduction_folders() { return kEntries; }

}  // namespace sardonyx::onnx::folding

// Functions of real numbers that others compute of their weights: tables of positions, biases that
// a small network makes. In float64, rounded once; of the numbers of the code nothing is folded
// here but what is exact.
#include <algorithm>
#include <cmath>
#include <functional>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx::folding {
namespace {

// Beyond this, products are left to the runtime.
constexpr std::int64_t kMaxProducts = std::int64_t{1} << 27;

using Reals = std::vector<double>;

Tensor rounded(DType dtype, Dims dims, const Reals& values) {
  const auto width = static_cast<std::size_t>(base::bit_width(dtype) / 8);
  std::vector<std::byte> bytes(values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i)
    store_real(dtype, values[i], bytes.data() + i * width);
  return Tensor::of_bytes(dtype, std::move(dims), bytes);
}

Result each(const Operands& o, const std::function<double(double)>& function) {
  if (o.at(0) == nullptr || !base::is_floating(o.at(0)->dtype)) return {};
  auto values = o.at(0)->reals();
  if (!values) return {};
  std::ranges::transform(*values, values->begin(), function);
  return {{rounded(o.at(0)->dtype, o.at(0)->dims, *values)}};
}

Result relu(const Operands& o) {
  return each(o, [](double x) { return x < 0 ? 0.0 : x; });
}
Result sign(const Operands& o) {
  return each(o, [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; });
}
// Halves to the even number.
Result round_off(const Operands& o) {
  return each(o, [](double x) { return std::nearbyint(x); });
}

Result hyperbolic_tangent(const Operands& o) {
  return rounds_off(o) ? each(o, [](double x) { return std::tanh(x); }) : Result{};
}
Result sigmoid(const Operands& o) {
  return rounds_off(o) ? each(o, [](double x) { return 1 / (1 + std::exp(-x)); }) : Result{};
}
Result swish(const Operands& o) {
  const double alpha = o.node.float_or("alpha", 1);
  return rounds_off(o) ? each(o, [=](double x) { return x / (1 + std::exp(-alpha * x)); })
                       : Result{};
}
Result error_function(const Operands& o) {
  return rounds_off(o) ? each(o, [](double x) { return std::erf(x); }) : Result{};
}

// A bound that is not there bounds nothing; NaN stays what it is.
Result clip(const Operands& o) {
  if (!o.node.attributes.empty()) return {};  // the bounds of opset 6
  const auto bound = [&](std::size_t i, double otherwise) -> std::optional<double> {
    if (o.at(i) == nullptr) return otherwise;
    const auto given = o.at(i)->reals();
    if (!given || given->size() != 1 || std::isnan(given->front())) return std::nullopt;
    return given->front();
  };
  const auto low = bound(1, -HUGE_VAL), high = bound(2, HUGE_VAL);
  if (!low || !high || !(*low <= *high)) return {};
  return each(o, [&](double x) { return x < *low ? *low : x > *high ? *high : x; });
}

Result softmax(const Operands& o) {
  if (!rounds_off(o)) return {};
  const Tensor& x = *o.at(0);
  const auto rank = static_cast<std::int64_t>(x.dims.size());
  // Before opset 13 it is another one by default.
  if (rank != 2 && o.node.find("axis") == nullptr) return {};
  const std::int64_t axis = o.node.int_or("axis", -1);
  auto values = x.reals();
  if (!values || rank == 0 || (axis != -1 && axis != rank - 1)) return {};
  const auto size = static_cast<std::size_t>(x.dims.back());
  for (std::size_t row = 0; size > 0 && row < values->size(); row += size) {
    const auto from = values->begin() + static_cast<std::ptrdiff_t>(row),
               to = from + static_cast<std::ptrdiff_t>(size);
    const double most = *std::max_element(from, to);
    if (!std::isfinite(most)) return {};
    double sum = 0;
    for (auto at = from; at != to; ++at) sum += * at = std::exp(*at - most);
    for (auto at = from; at != to; ++at) *at /= sum;
  }
  return {{rounded(x.dtype, x.dims, *values)}};
}

// Matrices in the last two axes of a and b, which broadcast by the others.
Result product(const Operands& o, const Tensor& a, const Tensor& b) {
  if (!rounds_off(o) || a.dtype != b.dtype || a.dims.size() < 2 || b.dims.size() < 2) return {};
  const Dims lead_a(a.dims.begin(), a.dims.end() - 2), lead_b(b.dims.begin(), b.dims.end() - 2);
  const auto lead = broadcast(lead_a, lead_b);
  const std::int64_t rows = a.dims[a.dims.size() - 2], inner = a.dims.back(),
                     columns = b.dims.back();
  if (!lead || inner != b.dims[b.dims.size() - 2]) return {};
  Dims dims = *lead;
  dims.insert(dims.end(), {rows, columns});
  const auto count = o.count(dims);
  const auto left = a.reals(), right = b.reals();
  if (!count || !left || !right || (inner != 0 && *count > kMaxProducts / inner)) return {};
  const Dims step_a = broadcast_strides(lead_a, *lead), step_b = broadcast_strides(lead_b, *lead);
  Reals result(static_cast<std::size_t>(*count), 0.0);
  each_index(*lead, [&](std::int64_t batch, const Dims& index) {
    std::int64_t at_a = 0, at_b = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      at_a += index[i] * step_a[i];
      at_b += index[i] * step_b[i];
    }
    const double* const x = left->data() + at_a * rows * inner;
    const double* const y = right->data() + at_b * inner * columns;
    double* const z = result.data() + batch * rows * columns;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t k = 0; k < inner; ++k)
        for (std::int64_t column = 0; column < columns; ++column)
          z[row * columns + column] += x[row * inner + k] * y[k * columns + column];
  });
  return {{rounded(a.dtype, std::move(dims), result)}};
}

Tensor transposed(const Tensor& x) { return strided(x, {x.dims[1], x.dims[0]}, 0, {1, x.dims[1]}); }

// Without what is added: that is for Add.
Result gemm(const Operands& o) {
  const Tensor *a = o.at(0), *b = o.at(1);
  if (a == nullptr || b == nullptr || o.at(2) != nullptr || a->dims.size() != 2 ||
      b->dims.size() != 2 || o.node.float_or("alpha", 1) != 1)
    return {};
  const Tensor first = o.node.int_or("transA", 0) != 0 ? transposed(*a) : *a;
  const Tensor second = o.node.int_or("transB", 0) != 0 ? transposed(*b) : *b;
  return product(o, first, second);
}

constexpr Entry kEntries[] = {
    {"Clip", clip},       {"Erf", error_function},      {"Gemm", gemm}, {"Relu", relu},
    {"Round", round_off}, {"Sigmoid", sigmoid},         {"Sign", sign}, {"Softmax", softmax},
    {"Swish", swish},     {"Tanh", hyperbolic_tangent},
};

}  // namespace

Result matrix_product(const Operands& o) {
  const Tensor *a = o.at(0), *b = o.at(1);
  return a == nullptr || b == nullptr ? Result{} : product(o, *a, *b);
}

std::span<const Entry> function_folders() { return kEntries; }

}  // namespace sardonyx::onnx::folding

#include "precision/half_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "onnx/graph/recipe.h"
#include "precision/weight_reader.h"

namespace sardonyx::precision {
namespace {

using base::DType;
using onnx::Tensor;

// Numbers that no weight is of the size of: masks have them.
constexpr double kNone = 1e9;
// More than four times what rounding to nearest leaves on average.
double tolerance(DType half) { return half == DType::kFloat16 ? 0x1p-10 : 0x1p-7; }

// The number in half, as a float; finite numbers alone. Below the normal numbers of float16 the
// steps are 2^-24.
float rounded(float value, DType half) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t drop = half == DType::kFloat16 ? 13 : 16;
  const std::uint32_t kept =
      (bits + (1U << (drop - 1)) - 1 + ((bits >> drop) & 1U)) & ~((1U << drop) - 1U);
  if (half == DType::kBFloat16 || std::abs(value) >= 0x1p-14F) return std::bit_cast<float>(kept);
  return (value + std::copysign(0.75F, value)) - std::copysign(0.75F, value);
}

struct Sums {
  double squares = 0, weights = 0, largest_difference = 0;
  double largest = 0;  // finite
  double least_beyond = std::numeric_limits<double>::infinity();
};

void add(Sums& sums, std::span<const float> values, DType half) {
  const auto most = static_cast<float>(largest_of(half));
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const float magnitude = std::abs(value);
    sums.largest = std::max(sums.largest, static_cast<double>(magnitude));
    if (magnitude > most) {
      sums.least_beyond = std::min(sums.least_beyond, static_cast<double>(magnitude));
      continue;
    }
    const double difference =
        static_cast<double>(value) - static_cast<double>(rounded(value, half));
    sums.squares += difference * difference;
    sums.weights += static_cast<double>(value) * static_cast<double>(value);
    sums.largest_difference = std::max(sums.largest_difference, std::abs(difference));
  }
}

// As a matrix, whatever its dims: its elements in any order.
std::optional<Tensor> as_matrix(const Tensor& tensor) {
  if (!tensor.contiguous() || !tensor.as_it_lies()) return std::nullopt;
  Tensor matrix = tensor;
  const std::int64_t count = tensor.element_count();
  const std::int64_t last = tensor.dims.empty() ? 1 : tensor.dims.back();
  matrix.dims = {count / last, last};
  matrix.strides.clear();
  return matrix;
}

void read(const Tensor& matrix, DType half, Sums& sums) {
  constexpr std::int64_t kAtOnce = std::int64_t{1} << 16;
  WeightReader reader(matrix);
  const std::int64_t columns = std::min(matrix.dims[1], kAtOnce);
  const std::int64_t rows = std::max(std::int64_t{1}, kAtOnce / columns);
  std::vector<float> values(static_cast<std::size_t>(std::min(rows, matrix.dims[0]) * columns));
  for (std::int64_t row = 0; row < matrix.dims[0]; row += rows)
    for (std::int64_t column = 0; column < matrix.dims[1]; column += columns) {
      const std::int64_t down = std::min(rows, matrix.dims[0] - row);
      const std::int64_t across = std::min(columns, matrix.dims[1] - column);
      reader.read(row, down, column, across, values);
      add(sums, std::span(values).first(static_cast<std::size_t>(down * across)), half);
    }
}

void read_all(const Tensor& tensor, DType half, Sums& sums) {
  const std::vector<double> reals = tensor.reals().value();
  const std::vector<float> values(reals.begin(), reals.end());
  add(sums, values, half);
}

}  // namespace

double largest_of(DType half) { return half == DType::kFloat16 ? 65504.0 : 0x1.FEp127; }

double limit_of(DType half) { return half == DType::kFloat16 ? -0x1p15 : -0x1p127; }

HalfValues in_half(const Tensor& tensor, DType half) {
  HalfValues values;
  if (tensor.data == nullptr || tensor.element_count() == 0) return values;
  Sums sums;
  if (const std::optional<Tensor> matrix = as_matrix(tensor)) {
    read(*matrix, half, sums);
  } else if (tensor.dims.size() == 2) {
    read(tensor, half, sums);
  } else {
    read_all(tensor, half, sums);
  }
  values.largest = sums.largest;
  values.error = {sums.squares, sums.weights, sums.largest_difference};
  values.beyond = std::isfinite(sums.least_beyond);
  if (values.beyond) {
    values.fits = sums.least_beyond >= kNone ? Fits::kAsLimit : Fits::kNo;
  } else if (values.error.relative() > tolerance(half)) {
    values.fits = Fits::kNo;
  }
  return values;
}

}  // namespace sardonyx::precision

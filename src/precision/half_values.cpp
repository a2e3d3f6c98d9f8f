#include "precision/half_values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/rounding_error.h"
#include "onnx/graph/pieces.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::precision {
namespace {

using base::DType;
using onnx::Tensor;

// Numbers that no weight is of the size of: masks have them.
constexpr double kNone = 1e9;
// More than four times what rounding to nearest leaves on average.
double tolerance(DType half) { return half == DType::kFloat16 ? 0x1p-10 : 0x1p-7; }

// The same elements in the order in which they lie in memory.
Tensor in_memory_order(const Tensor& tensor) {
  if (tensor.contiguous() || onnx::derivation_of(tensor) != nullptr) return tensor;
  std::vector<std::int64_t> axes(tensor.dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::ranges::stable_sort(axes, std::ranges::greater(), [&](std::int64_t axis) {
    return std::abs(tensor.strides[static_cast<std::size_t>(axis)]);
  });
  return onnx::permuted(tensor, axes);
}

// One pass over the weight, on all processors; a piece's sums are added in the order of the pieces.
kernels::RoundingError measured(const Tensor& tensor, DType half) {
  std::unique_ptr<onnx::Pieces> pieces;
  if (const onnx::Derived* step = onnx::derivation_of(tensor))
    pieces = step->how->pieces(step->part, *tensor.recipe->source);
  if (pieces == nullptr && onnx::derivation_of(tensor) != nullptr)
    return measured(onnx::computed(tensor), half);
  const Tensor ordered = in_memory_order(tensor);
  if (pieces == nullptr) pieces = onnx::pieces_of(ordered);
  std::vector<kernels::RoundingError> errors(pieces->count());
  onnx::visit_pieces(*pieces, [&](std::size_t piece, std::span<const std::byte> bytes) {
    const auto* const values = reinterpret_cast<const float*>(bytes.data());
    errors[piece] = kernels::rounding_error({values, bytes.size() / sizeof(float)}, half);
  });
  kernels::RoundingError sum;
  for (const kernels::RoundingError& error : errors) sum.add(error);
  return sum;
}

}  // namespace

double limit_of(DType half) { return half == DType::kFloat16 ? -0x1p15 : -0x1p127; }

HalfValues in_half(const Tensor& tensor, DType half) {
  HalfValues values;
  if (tensor.data == nullptr || tensor.element_count() == 0) return values;
  if (onnx::is_cast_alone(tensor) && tensor.stored_dtype() == half) return values;
  const kernels::RoundingError sums = measured(tensor, half);
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

// Maxima over windows at places that random samples choose.
#include <algorithm>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/images/candidates.h"
#include "aten/images/spatial.h"

namespace sardonyx::aten {
namespace {

using Ints64 = std::vector<std::int64_t>;

// Where the windows of one axis start, [N, C, count]: floor((i + u) * a) - floor(u * a) for a
// sample u [N, C, 1] and a = (size - kernel) / (count - 1); the last ends with the axis.
Value window_starts(Emit& onnx, Value sample, Expr size, std::int64_t kernel, std::int64_t count) {
  const Value final_start = onnx.size(size - kernel);
  if (count == 1) {
    return onnx.add(onnx.mul(onnx.cast(sample, DType::kInt64), onnx.int_scalar(0)), final_start);
  }
  const DType dtype = sample.dtype();
  const Value step = onnx.div(onnx.real_size(size - kernel, dtype),
                              onnx.scalar(static_cast<double>(count - 1), dtype));
  const Value index = onnx.cast(onnx.range(count), dtype);
  const Value moved = onnx.cast(onnx.mul(onnx.add(index, sample), step), DType::kInt64);
  const Value offset = onnx.cast(onnx.mul(sample, step), DType::kInt64);
  const Value is_last = onnx.equal(onnx.range(count), onnx.int_scalar(count - 1));
  return onnx.where(is_last, final_start, onnx.sub(moved, offset));
}

// The places of all windows' elements in the plane: [N, C, counts..., K].
Value places_of(Emit& onnx, Value x, Value samples, const Ints64& kernel, const Ints64& counts) {
  const auto axes = static_cast<std::int64_t>(kernel.size());
  Value places = onnx.int_scalar(0);
  Shape shape = {x.dim(0), x.dim(1)};
  std::int64_t elements = 1;
  for (std::int64_t i = 0; i < axes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    // Images list the samples from the last axis backwards, volumes forwards.
    const std::int64_t which = axes == 2 ? axes - 1 - i : i;
    const Value sample = onnx.slice(samples, 2, which, which + 1);
    const Value start = window_starts(onnx, sample, x.dim(2 + i), kernel[at], counts[at]);
    const Value position =
        onnx.add(onnx.unsqueeze(start, {3}), onnx.range(kernel[at]));  // [N, C, count, kernel]
    Ints64 others;
    for (std::int64_t j = 0; j < 2 * axes; ++j) {
      if (j != i && j != axes + i) others.push_back(2 + j);
    }
    places = onnx.add(onnx.mul(places, onnx.size(x.dim(2 + i))), onnx.unsqueeze(position, others));
    shape.emplace_back(counts[at]);
    elements *= kernel[at];
  }
  shape.emplace_back(elements);
  return onnx.reshape(places, shape);
}

// The maxima and their places in the plane, of x [N, C, sizes...].
Outputs pooled(const Call& call, Emit& onnx, Value x) {
  const auto axes = static_cast<std::size_t>(x.rank()) - 2;
  const Ints64 kernel = filled(call.integers("kernel_size"), axes);
  const Ints64 counts = filled(call.integers("output_size"), axes);
  // PyTorch takes samples for more images than there are, and reads the first ones.
  const Value given = call.tensor("random_samples");
  const Value samples = given.dim(0) == x.dim(0) ? given : onnx.slice(given, 0, 0, x.dim(0));
  const Value u = onnx.cast(samples, computing_type(samples.dtype()));
  const Value places = places_of(onnx, x, u, kernel, counts);
  const Value planes =
      onnx.reshape(x, {x.dim(0), x.dim(1), symbolic::product(std::span(x.shape()).subspan(2))});
  const Value flat = onnx.reshape(
      places, {x.dim(0), x.dim(1), symbolic::product(std::span(places.shape()).subspan(2))});
  const Value candidates =
      onnx.reshape(onnx.gather_elements(planes, flat, {.axis = 2}), places.shape());
  const Best best = best_of(onnx, candidates);
  const Value chosen =
      onnx.gather_elements(places, onnx.unsqueeze(best.indices, {-1}), {.axis = -1});
  return {best.values, onnx.squeeze(chosen, {-1})};
}

Outputs fractional_max_pool(const Call& call, Emit& onnx) {
  const std::int64_t rank = call.op().find("pool2d") != std::string::npos ? 4 : 5;
  return batched(onnx, call.tensor("self"), rank, [&](Value x) { return pooled(call, onnx, x); });
}

constexpr Row kRows[] = {
    {"aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor "
     "random_samples) -> (Tensor, Tensor)",
     fractional_max_pool},
    {"aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor "
     "random_samples) -> (Tensor, Tensor)",
     fractional_max_pool},
};

}  // namespace

std::span<const Row> fractional_pooling_rows() { return kRows; }

}  // namespace sardonyx::aten

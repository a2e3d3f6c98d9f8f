// Distances and similarities of vectors.
#include <algorithm>
#include <cmath>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/indexing/index_plan.h"
#include "aten/losses/loss_reduction.h"
#include "aten/reduction/vector_norm.h"

namespace sardonyx::aten {
namespace {

Value wide(const Call& call, Emit& onnx, std::string_view name) {
  return onnx.cast(call.tensor(name), computing_type(call.result_dtype()));
}

Outputs result(const Call& call, Emit& onnx, Value x) { return {cast_to_result(onnx, call, x)}; }

// --- between all pairs of rows

// Every row of x [..., P, M] less every row of y [..., R, M]: [..., P, R, M].
Value differences(Emit& onnx, Value x, Value y) {
  return onnx.sub(onnx.unsqueeze(x, {-2}), onnx.unsqueeze(y, {-3}));
}

// sqrt(|x|^2 + |y|^2 - 2 x.y) takes no memory for the differences. In double, in which next to
// nothing is lost where rows lie close together.
Value euclidean(Emit& onnx, Value x, Value y) {
  const Value a = onnx.cast(x, DType::kFloat64), b = onnx.cast(y, DType::kFloat64);
  const std::vector<std::int64_t> last = {-1};
  const auto square = [&](Value v) { return onnx.reduce("ReduceSum", onnx.mul(v, v), last, true); };
  const Value product = onnx.matmul(a, onnx.swap_axes(b, -1, -2));
  const Value sum = onnx.add(square(a), onnx.swap_axes(square(b), -1, -2));
  const Value squared = onnx.sub(sum, onnx.mul(product, onnx.scalar(2, DType::kFloat64)));
  // Where, not Max: it keeps NaN.
  const Value zero = onnx.zero(DType::kFloat64);
  const Value positive = onnx.where(onnx.less(squared, zero), zero, squared);
  return onnx.cast(onnx.sqrt(positive), x.dtype());
}

// PyTorch takes the product form where either side has more than 25 rows.
bool has_many_rows(Value x) {
  const std::optional<std::int64_t> rows = x.dim(-2).constant();
  return !rows || *rows > 25;
}

Value all_pairs(Emit& onnx, Value x, Value y, double p, std::int64_t mode) {
  const bool many = has_many_rows(x) || has_many_rows(y);
  if (p == 2 && mode != 2 && (many || mode == 1)) return euclidean(onnx, x, y);
  const Value apart = differences(onnx, x, y);
  return vector_norm(onnx, apart, {apart.rank() - 1}, false, p);
}

Outputs cdist(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx, "x1"), y = wide(call, onnx, "x2");
  if (x.dim(-1).is(0)) return {onnx.full(call.result_shape(), onnx.zero(call.result_dtype()))};
  const std::int64_t mode = call.optional_integer("compute_mode").value_or(0);
  return result(call, onnx, all_pairs(onnx, x, y, call.number("p"), mode));
}

Outputs euclidean_dist(const Call& call, Emit& onnx) {
  return result(call, onnx, euclidean(onnx, wide(call, onnx, "x1"), wide(call, onnx, "x2")));
}

// The distances above the diagonal of cdist(x, x), row by row.
Outputs pdist(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx, "self");
  if (x.dim(1).is(0)) return {onnx.full(call.result_shape(), onnx.zero(call.result_dtype()))};
  const Value index = onnx.range(x.dim(0));
  const Value pairs = onnx.nonzero(onnx.less(onnx.unsqueeze(index, {1}), index));
  const auto rows = [&](std::int64_t side) {
    return onnx.gather(x, onnx.gather(pairs, onnx.int_scalar(side)));
  };
  const Value apart = onnx.sub(rows(0), rows(1));
  return result(
      call, onnx,
      onnx.reshape(vector_norm(onnx, apart, {1}, false, call.number("p")), call.result_shape()));
}

// --- between rows that stand opposite

// Integers are subtracted as they are, and wrap around; what comes after is floating.
Value between_rows(const Call& call, Emit& onnx, std::string_view left, std::string_view right,
                   bool keep) {
  const auto side = [&](std::string_view name) {
    const Value x = call.tensor(name);
    return base::is_floating(x.dtype()) ? wide(call, onnx, name) : x;
  };
  const Pair rows = promoted(onnx, side(left), side(right));
  const DType computing = computing_type(call.result_dtype());
  const Value apart = onnx.add(onnx.cast(onnx.sub(rows.left, rows.right), computing),
                               onnx.scalar(call.number("eps"), computing));
  return vector_norm(onnx, apart, {apart.rank() - 1}, keep, call.number("p"));
}

Outputs pairwise_distance(const Call& call, Emit& onnx) {
  return result(call, onnx, between_rows(call, onnx, "x1", "x2", call.flag("keepdim")));
}

Outputs triplet_margin_loss(const Call& call, Emit& onnx) {
  const Value near = between_rows(call, onnx, "anchor", "positive", false);
  Value far = between_rows(call, onnx, "anchor", "negative", false);
  if (call.flag("swap"))
    far = onnx.min({far, between_rows(call, onnx, "positive", "negative", false)});
  const DType dtype = near.dtype();
  const Value loss = onnx.max(
      {onnx.add(onnx.sub(near, far), onnx.scalar(call.number("margin"), dtype)), onnx.zero(dtype)});
  return reduced_loss(call, onnx, loss);
}

// Each vector is divided by its length, at least eps, before the product: the squares of long
// vectors would overflow.
Outputs cosine_similarity(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx, "x1"), y = wide(call, onnx, "x2");
  const std::int64_t rank = std::max(x.rank(), y.rank());
  // A number is a vector of one element.
  std::vector<std::int64_t> axes;
  if (rank > 0) axes.push_back(call.axis("dim", rank));
  const auto unit = [&](Value v, std::string_view name) {
    // As PyTorch has it in the tensor's own type: 1e-8 is 0 in float16.
    const DType own = call.tensor(name).dtype();
    const DType type = base::is_floating(own) ? own : call.result_dtype();
    const Value least = onnx.cast(onnx.scalar(call.number("eps"), type), v.dtype());
    const Value whole = onnx.with_rank(v, rank);
    return onnx.div(whole, onnx.max({vector_norm(onnx, whole, axes, true, 2), least}));
  };
  // An axis that only one of the two has is in the product still.
  if (rank == 0) return result(call, onnx, onnx.mul(unit(x, "x1"), unit(y, "x2")));
  const Shape both =
      broadcast_shapes(onnx.with_rank(x, rank).shape(), onnx.with_rank(y, rank).shape());
  const Value a = unit(onnx.expand(x, both), "x1"), b = unit(onnx.expand(y, both), "x2");
  return result(call, onnx, onnx.reduce("ReduceSum", onnx.mul(a, b), axes, false));
}

Outputs dist(const Call& call, Emit& onnx) {
  const Value apart = onnx.sub(wide(call, onnx, "self"), wide(call, onnx, "other"));
  const Value norm =
      vector_norm(onnx, onnx.flatten_to_1d(apart), {0}, false, call.scalar("p").as_double());
  return result(call, onnx, norm);
}

constexpr Row kRows[] = {
    {"aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", cdist},
    {"aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", euclidean_dist},
    {"aten::_pdist_forward(Tensor self, float p=2.) -> Tensor", pdist},
    {"aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor", cdist},
    {"aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
     cosine_similarity},
    {"aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", dist},
    {"aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, "
     "bool keepdim=False) -> Tensor",
     pairwise_distance},
    {"aten::pdist(Tensor self, float p=2.) -> Tensor", pdist},
    {"aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., "
     "float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
     triplet_margin_loss},
};

}  // namespace

std::span<const Row> distance_rows() { return kRows; }

}  // namespace sardonyx::aten

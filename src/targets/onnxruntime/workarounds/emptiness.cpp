// Tensors that hold nothing.
#include <algorithm>

#include "onnx/emit/occupied.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

using onnx::Shape;

bool covers(Expr left, Expr right) { return right.is(1) || left == right; }

// The kernel adds up nothing to 0 where the first factor alone has the result's batch, or both are
// vectors.
bool has_the_batch(Value a, Value b) {
  bool covered = a.rank() >= b.rank() && (b.rank() > 1 || a.rank() == 1);
  for (std::int64_t i = 3; covered && i <= b.rank(); ++i) covered = covers(a.dim(-i), b.dim(-i));
  return covered;
}

bool may_be_empty(Expr size) {
  return size.known() && !size.is_constant() && !symbolic::certainly_less(Expr(0), size) &&
         symbolic::certainly_less_equal(Expr(0), size);
}

bool is_sized(const Use& use, Value x) {
  return std::ranges::all_of(x.shape(),
                             [&](Expr dim) { return dim.known() && use.onnx.can_size(dim); });
}

bool may_sum_nothing(const Use& use) {
  const Value a = use.input(0), b = use.input(1);
  if (!a || !b || !a.has_rank() || !b.has_rank() || a.rank() == 0 || b.rank() == 0) return false;
  return base::is_floating(a.dtype()) && may_be_empty(a.dim(-1)) && !has_the_batch(a, b) &&
         is_sized(use, a) && is_sized(use, b) && !onnx::is_of_windows(a.info(), a.dim(-1));
}

// The sums begin with 0 * 0.
std::optional<Values> begun_with_zero(const Use& use, const Rule& rule) {
  onnx::Emit& onnx = use.onnx;
  const auto begun = [&](Value x, std::int64_t axis) {
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = Expr(1);
    return onnx.concat({onnx.full(shape, onnx.zero(x.dtype())), x}, axis);
  };
  const Value a = use.input(0), b = use.input(1);
  const Value factors[] = {begun(a, a.rank() - 1),
                           begun(b, std::max(b.rank() - 2, std::int64_t{0}))};
  return use.onnx.without(rule, use, factors, {});
}

constexpr Rule kRows[] = {
    {.name = "product-of-perhaps-nothing",
     .op = Op::kMatMul,
     .reason = Reason::kWrong,
     .when = may_sum_nothing,
     .how = begun_with_zero,
     .why = "where the inner size is 0 it leaves what was in memory, or forgets the batch, unless "
            "the first factor alone has the result's batch",
     .since = "1.31",
     .until = "1.32"},
};

}  // namespace

Rules emptiness_rules() { return kRows; }

}  // namespace sardonyx::targets

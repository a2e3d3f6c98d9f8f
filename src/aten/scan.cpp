// Running sums, products and extremes along an axis.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Outputs cumsum(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  if (x.rank() == 0) return {x};
  return {onnx.cumsum(x, onnx.int_scalar(call.axis("dim", x.rank())))};
}

constexpr Row kRows[] = {
    {"aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", 13, cumsum},
};

}  // namespace

std::span<const Row> scan_rows() { return kRows; }

}  // namespace sardonyx::aten

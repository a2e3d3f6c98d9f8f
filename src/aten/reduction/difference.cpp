// Differences of neighbors along an axis.
#include <limits>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Outputs diff(const Call& call, Emit& onnx) {
  Value x = onnx.cast(call.tensor("self"), call.result_dtype());
  const std::int64_t axis = call.axis("dim", x.rank());
  if (call.integer("n") == 0) return {x};  // without what is put before and behind it
  std::vector<Value> parts;
  if (call.has("prepend")) parts.push_back(onnx.cast(call.tensor("prepend"), x.dtype()));
  parts.push_back(x);
  if (call.has("append")) parts.push_back(onnx.cast(call.tensor("append"), x.dtype()));
  if (parts.size() > 1) x = onnx.concat(parts, axis);
  for (std::int64_t times = call.integer("n"); times > 0; --times) {
    if (x.dim(axis).is(0)) break;  // nothing is left to take differences of
    const Value after = onnx.slice(x, axis, 1, std::numeric_limits<std::int64_t>::max());
    const Value before = onnx.slice(x, axis, 0, -1);
    const bool truth = x.dtype() == DType::kBool;
    x = truth ? onnx.xor_(after, before) : onnx.sub(after, before);
  }
  return {x};
}

constexpr Row kRows[] = {
    {"aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> "
     "Tensor",
     diff},
};

}  // namespace

std::span<const Row> difference_rows() { return kRows; }

}  // namespace sardonyx::aten

// Products in half precision.
#include <vector>

#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

// The first axis goes behind the other ones of the batch, or to the end.
bool turns_batch(const onnx::Node* transpose) {
  const std::vector<std::int64_t>* order = transpose->ints("perm");
  if (order == nullptr || order->size() < 3) return false;
  const std::size_t batch = order->size() - 2;
  for (std::size_t i = 0; i < batch; ++i)
    if ((*order)[i] != static_cast<std::int64_t>(i) + 1) return false;
  return true;
}

bool takes_turned_batch(const Use& use) {
  const onnx::Node* transpose = use.input(0)->producer;
  return transpose != nullptr && transpose->is("Transpose") && use.input(1).is_constant() &&
         turns_batch(transpose);
}

// Before: MatMul(Transpose<perm = [1, 0, 2]>(x), weight)
// After:  Squeeze(MatMul(Unsqueeze(Transpose<perm = [1, 0, 2]>(x), [0]), weight), [0])
std::optional<Values> apart(const Use& use, const Rule&) {
  onnx::Emit& onnx = use.onnx;
  const Value front = onnx.unsqueeze(use.input(0), {0});
  return Values{onnx.squeeze(onnx.matmul(front, use.input(1)), {0})};
}

constexpr Rule kRows[] = {
    {.name = "transposed-half-product",
     .op = Op::kMatMul,
     .reason = Reason::kFails,
     .types = onnx::dtype_bit(base::DType::kFloat16),
     .when = takes_turned_batch,
     .how = apart,
     .why =
         "the Transpose of a batch is fused into the product, and the CPU provider, which has no "
         "such product in float16, then crashes while it loads the model",
     .since = "1.31"},
};

}  // namespace

Rules half_product_rules() { return kRows; }

}  // namespace sardonyx::targets

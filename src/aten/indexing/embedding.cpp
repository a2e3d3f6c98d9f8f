// Rows of a table by index.
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// padding_idx and the frequency scaling only matter to gradients.
Outputs embedding(const Call& call, Emit& onnx) {
  return {onnx.gather(call.tensor("weight"), call.tensor("indices"), {.axis = 0})};
}

// Each row of the gradient is added to the row of the table that it was read from; the mean of them
// where `scale_grad_by_freq` says so.
Outputs embedding_dense_backward(const Call& call, Emit& onnx) {
  const DType dtype = computing_type(call.result_dtype());
  const Shape& result = call.result_shape();
  const Value indices = onnx.cast(call.tensor("indices"), DType::kInt64);
  const Value given = onnx.cast(call.tensor("grad_output"), dtype);
  const Expr rows = symbolic::product(indices.shape());
  const Value places = onnx.reshape(indices, {rows, 1});
  Value grad = onnx.reshape(given, {rows, result[1]});
  const auto summed = [&](Value start, Value updates) {
    return onnx.scatter_nd(start, places, updates, {.reduction = "add"});
  };
  if (call.flag("scale_grad_by_freq")) {
    const Value none = onnx.full({{result[0]}}, onnx.zero(dtype));
    const Value counts = summed(none, onnx.full({{rows}}, onnx.one(dtype)));
    grad = onnx.div(grad, onnx.gather(counts, places, {.axis = 0}));
  }
  const Expr padding = call.size("padding_idx");
  if (!padding.is_constant() || padding.value() >= 0) {
    grad = onnx.where(onnx.equal(places, onnx.size(padding)), onnx.zero(dtype), grad);
  }
  return {cast_to_result(onnx, call, summed(onnx.full(result, onnx.zero(dtype)), grad))};
}

constexpr Row kRows[] = {
    {"aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
     "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
     embedding},
    {"aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, "
     "SymInt "
     "padding_idx, bool scale_grad_by_freq) -> Tensor",
     embedding_dense_backward},
};

}  // namespace

std::span<const Row> embedding_rows() { return kRows; }

}  // namespace sardonyx::aten

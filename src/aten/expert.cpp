// Grouped matrix products: rows of one matrix multiplied by the matrix of their group, as mixtures
// of experts do.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// Group g holds the rows from ends[g - 1] to ends[g]. A loop over the groups: each takes its rows,
// which may be none, and appends its product; groups partition the rows in order.
Value grouped_product(Emit& onnx, Value rows, Value weights, Value ends) {
  const DType dtype = rows.dtype();
  const Expr width = weights.dim(2);
  const Value bounds = onnx.concat({onnx.ints({0}), onnx.cast(ends, DType::kInt64)}, 0);
  const Value none = onnx.full(Shape{0, width}, onnx.zero(dtype));

  onnx::Graph* body = onnx.begin_body("each_group");
  const Value group = onnx.body_input("group", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  const Value so_far = onnx.body_input("so_far", dtype, Shape{Expr(), width});
  const Value first = onnx.unsqueeze(group, {0});
  const Value start = onnx.gather(bounds, first, {.axis = 0});
  const Value next = onnx.add(first, onnx.ints({1}));
  const Value end = onnx.gather(bounds, next, {.axis = 0});
  const Value own = onnx.slice(rows, start, end, onnx.ints({0}));
  const Value product = onnx.matmul(own, onnx.gather(weights, group, {.axis = 0}));
  const Value extended = onnx.concat({so_far, product}, 0);
  const std::vector<Value> outputs = {onnx.identity(condition), extended};
  onnx.end_body(outputs);

  const std::vector<Value> carried = {none};
  return onnx.loop(onnx.size(weights.dim(0)), {}, carried, body).front();
}

Value product_of_groups(const Call& call, Emit& onnx, Value left, Value right, Value ends) {
  if (left.rank() == 3 && right.rank() == 3 && !ends) return onnx.matmul(left, right);
  if (left.rank() != 2 || right.rank() != 3 || !ends) {
    call.refuse("a grouped product of tensors of rank " + std::to_string(left.rank()) + " and " +
                    std::to_string(right.rank()),
                "group the rows of a matrix (rank 2) against one matrix a group (rank 3)");
  }
  return grouped_product(onnx, left, right, ends);
}

Outputs grouped_mm_fallback(const Call& call, Emit& onnx) {
  return {product_of_groups(call, onnx, call.tensor("input"), call.tensor("weight"),
                            call.tensor("offs"))};
}

Outputs grouped_mm(const Call& call, Emit& onnx) {
  if (call.has("bias")) call.refuse("grouped_mm with a bias");
  const Value product = product_of_groups(call, onnx, call.tensor("self"), call.tensor("mat2"),
                                          call.optional_tensor("offs"));
  return {cast_to_result(onnx, call, product)};
}

constexpr Row kRows[] = {
    {"aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
     "ScalarType? "
     "out_dtype=None) -> Tensor",
     13, grouped_mm},
    {"transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor", 13,
     grouped_mm_fallback},
};

}  // namespace

std::span<const Row> expert_rows() { return kRows; }

}  // namespace sardonyx::aten

// Grouped matrix products: rows of one matrix multiplied by the matrix of their group, as mixtures
// of experts do.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// Group g holds the rows from ends[g - 1] to ends[g].
struct Groups {
  Value starts, ends;  // int64 [groups]
};

Groups groups_of(Emit& onnx, Value ends, Expr count) {
  ends = onnx.cast(ends, DType::kInt64);
  const Value starts = onnx.concat({onnx.ints({0}), onnx.slice(ends, 0, 0, count - 1)}, 0);
  return {starts, ends};
}

// Rows behind the last group belong to none: their products are 0.
Value zeros_for(Emit& onnx, Value rows, Expr width, DType dtype) {
  const Value shape = onnx.concat({onnx.dim_of(rows, 0), onnx.sizes({width})}, 0);
  return onnx.expand(onnx.zero(dtype), shape);
}

// What a runtime computes once, when it loads the model.
bool is_fixed(Value value) {
  while (value->producer) {
    const std::string& op = value->producer->op_type;
    if (op != "Transpose" && op != "Cast" && op != "Identity") return false;
    value = value->producer->input(0);
  }
  return value.is_constant();
}

// Above this, the nodes cost more than a loop: a runtime takes 1 to 2 us for each.
constexpr std::int64_t kMaxSpelledOut = 128;

// One product a group, each with its own matrix, which a runtime can pack when it loads the model.
// A Loop over the groups would copy each matrix out of the stack, and all rows so far once a group.
// Beside a model that loops over its experts in Python this takes 0.45 to 0.98 of the time (8 to 64
// experts, 1 to 128 tokens, measured on one thread of x86; 1.06 for 8 experts and 512 tokens).
Value product_a_group(Emit& onnx, Value rows, Value weights, Value ends) {
  const std::int64_t count = weights.dim(0).value();
  const Groups groups = groups_of(onnx, ends, count);
  const Value last = onnx.slice(groups.ends, 0, count - 1, count);
  const Value behind = onnx.sub(onnx.dim_of(rows, 0), last);
  const Value counts = onnx.concat({onnx.sub(groups.ends, groups.starts), behind}, 0);
  const onnx::Values parts =
      onnx.split(static_cast<std::size_t>(count) + 1, rows, counts, {.axis = 0});
  std::vector<Value> products;
  for (std::int64_t group = 0; group < count; ++group) {
    const Value own = onnx.gather(weights, onnx.int_scalar(group), {.axis = 0});
    products.push_back(onnx.matmul(parts[static_cast<std::size_t>(group)], own));
  }
  products.push_back(zeros_for(onnx, parts.back(), weights.dim(2), rows.dtype()));
  return onnx.concat(products, 0);
}

// A loop over the groups that have rows: each takes its own and appends its product; groups
// partition the rows in order.
Value product_in_a_loop(Emit& onnx, Value rows, Value weights, Value ends) {
  const DType dtype = rows.dtype();
  const Expr width = weights.dim(2);
  const Groups groups = groups_of(onnx, ends, weights.dim(0));
  const Value filled = onnx.squeeze(onnx.nonzero(onnx.less(groups.starts, groups.ends)), {0});
  const Value none = onnx.full(Shape{0, width}, onnx.zero(dtype));

  onnx::Graph* body = onnx.begin_body("each_group");
  const Value turn = onnx.body_input("turn", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  const Value so_far = onnx.body_input("so_far", dtype, Shape{Expr(), width});
  const Value group = onnx.gather(filled, turn, {.axis = 0});
  const Value place = onnx.unsqueeze(group, {0});
  const Value start = onnx.gather(groups.starts, place, {.axis = 0});
  const Value end = onnx.gather(groups.ends, place, {.axis = 0});
  const Value own = onnx.slice(rows, start, end, onnx.ints({0}));
  const Value product = onnx.matmul(own, onnx.gather(weights, group, {.axis = 0}));
  const Value extended = onnx.concat({so_far, product}, 0);
  const std::vector<Value> outputs = {onnx.identity(condition), extended};
  onnx.end_body(outputs);

  const std::vector<Value> carried = {none};
  const Value turns = onnx.squeeze(onnx.shape(filled), {0});
  const Value made = onnx.loop(turns, {}, carried, body).front();
  const Value behind = onnx.slice(rows, onnx.dim_of(made, 0), onnx.dim_of(rows, 0), onnx.ints({0}));
  return onnx.concat({made, zeros_for(onnx, behind, width, dtype)}, 0);
}

Value grouped_product(Emit& onnx, Value rows, Value weights, Value ends) {
  const Expr count = weights.dim(0);
  const bool spelled_out =
      count.is_constant() && count.value() > 0 && count.value() <= kMaxSpelledOut;
  return spelled_out && is_fixed(weights) ? product_a_group(onnx, rows, weights, ends)
                                          : product_in_a_loop(onnx, rows, weights, ends);
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
     grouped_mm},
    {"transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
     grouped_mm_fallback},
};

}  // namespace

std::span<const Row> expert_rows() { return kRows; }

}  // namespace sardonyx::aten

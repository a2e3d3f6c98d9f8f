// Rows replaced, filled or added to by a vector of indices; classes as indicator vectors.
#include <optional>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/indexing/scattering.h"

namespace sardonyx::aten {

Value spread_index(Emit& onnx, Value index, Value like, std::int64_t axis) {
  index = onnx.with_rank(index, 1);
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < like.rank(); ++i) {
    if (i != axis) others.push_back(i);
  }
  return onnx.expand(onnx.unsqueeze(onnx.cast(index, DType::kInt64), others), like.shape());
}

namespace {

// Whole rows go by ScatterND, for which an index a row is enough.
Value added(Emit& onnx, Value self, std::int64_t axis, Value index, Value source) {
  if (axis == 0 && self.rank() > 1) {
    const Value rows = onnx.unsqueeze(onnx.with_rank(onnx.cast(index, DType::kInt64), 1), {1});
    return onnx.scatter_nd(self, rows, source, {.reduction = "add"});
  }
  return onnx.scatter_elements(self, spread_index(onnx, index, source, axis), source,
                               {.axis = axis, .reduction = "add"});
}

Outputs index_add(const Call& call, Emit& onnx) {
  const Scalar alpha = call.scalar("alpha");
  const DType result = call.result_dtype(), dtype = alpha.is(1) ? result : computing_type(result);
  const Value self = onnx.with_rank(onnx.cast(call.tensor("self"), dtype), 1);
  Value source = onnx.with_rank(onnx.cast(call.tensor("source"), dtype), 1);
  if (!alpha.is(1)) source = onnx.mul(source, scalar_value(onnx, alpha, source.dtype()));
  const std::int64_t axis = call.axis("dim", self.rank());
  const Value sums = added(onnx, self, axis, call.tensor("index"), source);
  return {cast_to_result(onnx, call, onnx.reshape(sums, call.result_shape()))};
}

// 0, 1, 2, ...
bool counts_from_zero(const program::Value& value) {
  if (!value.producer || !value.producer->schema->name.starts_with("aten::arange")) return false;
  const program::Call& arange = *value.producer;
  const auto is = [&](std::string_view name, std::int64_t number) {
    if (!arange.schema->find(name)) return true;
    const Expr* given = arange.argument(name).get<Expr>();
    return given && given->is(number);
  };
  return is("start", 0) && is("step", 1);
}

// The first of indices that count up by one, where that is plain to see: a single index, or a
// tensor of one element added to 0, 1, 2, ... as key/value caches do.
std::optional<Value> first_of_consecutive(const Call& call) {
  const program::Value& index = call.captured_tensor("index");
  if (index.rank() == 1 && index.shape[0].is(1)) return call.tensor("index");
  if (!index.producer || index.producer->schema->qualified() != "aten::add.Tensor")
    return std::nullopt;
  const Expr* alpha = index.producer->argument("alpha").get<Expr>();
  if (!alpha || !alpha->is(1)) return std::nullopt;
  for (const bool swapped : {false, true}) {
    program::Value* const* numbers =
        index.producer->argument(swapped ? "other" : "self").get<program::Value*>();
    program::Value* const* start =
        index.producer->argument(swapped ? "self" : "other").get<program::Value*>();
    if (!numbers || !start || (*numbers)->rank() != 1 || !counts_from_zero(**numbers)) continue;
    const bool one = (*start)->rank() == 0 || ((*start)->rank() == 1 && (*start)->shape[0].is(1));
    const auto found = call.environment().find(*start);
    if (one && base::is_integer((*start)->dtype) && found != call.environment().end())
      return found->second;
  }
  return std::nullopt;
}

// Rows written side by side into each entry of a batch are what TensorScatter is for.
Value written_in_batches(Emit& onnx, Value self, Value source, Value first, std::int64_t axis) {
  const Value start = onnx.reshape(onnx.cast(first, DType::kInt64), {Expr(1)});
  const Value starts = onnx.expand(start, Shape{self.dim(0)});
  return onnx.tensor_scatter(self, source, starts, {.axis = axis});
}

Outputs index_copy(const Call& call, Emit& onnx) {
  const Value self = onnx.with_rank(call.tensor("self"), 1);
  const Value source = onnx.with_rank(call.tensor("source"), 1);
  const std::int64_t axis = call.axis("dim", self.rank());
  if (axis > 0) {
    if (const auto first = first_of_consecutive(call))
      return {written_in_batches(onnx, self, source, *first, axis)};
  }
  const Value index = spread_index(onnx, call.tensor("index"), source, axis);
  return {onnx.reshape(onnx.scatter_elements(self, index, source, {.axis = axis}),
                       call.result_shape())};
}

Outputs index_fill(const Call& call, Emit& onnx) {
  const Value self = onnx.with_rank(call.tensor("self"), 1);
  const std::int64_t axis = call.axis("dim", self.rank());
  const Value index = onnx.with_rank(call.tensor("index"), 1);
  const Value value = call.argument("value").get<program::Value*>()
                          ? onnx.cast(call.tensor("value"), self.dtype())
                          : scalar_value(onnx, call.scalar("value"), self.dtype());
  Shape shape = self.shape();
  shape[static_cast<std::size_t>(axis)] = index.dim(0);
  const Value source = onnx.expand(value, shape);
  return {onnx.reshape(
      onnx.scatter_elements(self, spread_index(onnx, index, source, axis), source, {.axis = axis}),
      call.result_shape())};
}

// 1 where the class is, 0 elsewhere.
// With as many classes as said, or as the highest index asks for.
Outputs one_hot(const Call& call, Emit& onnx) {
  const Expr classes = call.size("num_classes");
  const Value self = onnx.cast(call.tensor("self"), DType::kInt64);
  Value numbers;
  if (classes.is(-1)) {
    const std::int64_t axis = 0;
    const Value highest =
        onnx.reduce("ReduceMax", onnx.flatten_to_1d(self), {&axis, 1}, /*keep_dims=*/false);
    const Value one = onnx.scalar(1, DType::kInt64);
    numbers = onnx.range(onnx.scalar(0, DType::kInt64), onnx.add(highest, one), one);
  } else {
    numbers = onnx.range(classes);
  }
  return {onnx.cast(onnx.equal(onnx.unsqueeze(self, {-1}), numbers), call.result_dtype())};
}

constexpr Row kRows[] = {
    {"aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> "
     "Tensor",
     index_add},
    {"aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", index_copy},
    {"aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
     index_fill},
    {"aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
     index_fill},
    {"aten::one_hot(Tensor self, int num_classes=-1) -> Tensor", one_hot},
};

}  // namespace

std::span<const Row> index_update_rows() { return kRows; }

}  // namespace sardonyx::aten

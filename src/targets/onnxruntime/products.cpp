// Products, of matrices and of elements.
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

// The axes that are reduced, from the constant input; nothing where they are not known.
std::optional<std::vector<std::int64_t>> reduced_axes(const Use& use) {
  const Value x = use.input(0), axes = use.input(1);
  if (!x.has_rank() || !axes) return std::nullopt;
  auto known = axes.ints();
  if (!known || known->size() != 1) return std::nullopt;
  for (std::int64_t& axis : *known)
    if (axis < 0) axis += x.rank();
  return known;
}

bool may_multiply_nothing(const Use& use) {
  const auto axes = reduced_axes(use);
  return axes && !symbolic::certainly_positive(use.input(0).dim(axes->front()));
}

// With a 1 beside the factors.
std::optional<Values> beside_one(const Use& use, const Rule& rule) {
  onnx::Emit& onnx = use.onnx;
  const Value x = use.input(0);
  const std::int64_t axis = reduced_axes(use)->front();
  onnx::Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = Expr(1);
  for (const Expr dim : shape)
    if (!dim.known()) return std::nullopt;
  const Value factors = onnx.concat({x, onnx.full(shape, onnx.one(x.dtype()))}, axis);
  return use.onnx.without(rule, use, std::vector{factors, use.input(1)},
                          {use.attributes.begin(), use.attributes.end()});
}

constexpr Rule kRows[] = {
    {.name = "product-of-nothing",
     .op = Op::kReduceProd,
     .reason = Reason::kFails,
     .when = may_multiply_nothing,
     .how = beside_one,
     .why = "there is no product over an axis of size 0, which is 1",
     .since = "1.31"},
};

}  // namespace

Rules product_rules() { return kRows; }

}  // namespace sardonyx::targets

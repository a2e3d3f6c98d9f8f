// Scatters that TensorRT's documentation does not list.
#include <algorithm>
#include <vector>

#include "targets/lowering.h"
#include "targets/tensorrt/tables.h"

namespace sardonyx::targets {
namespace {

using onnx::Shape;
using symbolic::product;

bool combines(const Use& use) { return use.text("reduction", "none") != "none"; }

bool is_sized(Lowering& onnx, Value x) {
  return x.has_rank() && std::ranges::all_of(x.shape(), [&](Expr dim) {
           return dim.known() && onnx.can_size(dim);
         });
}

// The number of each slice among those that the first axes of the data name.
Value slice_numbers(Lowering& onnx, Value indices, std::span<const Expr> sizes) {
  std::vector<Expr> steps;
  for (std::size_t i = 0; i < sizes.size(); ++i) steps.push_back(product(sizes.subspan(i + 1)));
  const Value zero = onnx.int_scalar(0);
  const Value counted = onnx.add(indices, onnx.sizes(sizes));
  const Value places = onnx.where(onnx.less(indices, zero), counted, indices);
  return onnx.reduce("ReduceSum", onnx.mul(places, onnx.sizes(steps)),
                     std::vector{std::int64_t{-1}}, false);
}

// Before: ScatterND<reduction = add>(data [A, B, C], indices [n, 2], updates [n, C])
// After:  Reshape(ScatterElements<reduction = add>(Reshape(data, [A * B, C]),
//                                                  Expand(slice numbers, [n, C]), updates))
std::optional<Values> by_elements(const Use& use, const Rule&) {
  Lowering& onnx = use.onnx;
  const Value data = use.input(0), indices = use.input(1), updates = use.input(2);
  if (!is_sized(onnx, data) || !is_sized(onnx, indices) || indices.rank() == 0 ||
      !indices.dim(-1).is_constant())
    return std::nullopt;
  const auto named = static_cast<std::size_t>(indices.dim(-1).value());
  const std::span<const Expr> sizes = data.shape();
  if (named == 0 || named > sizes.size()) return std::nullopt;
  const std::span<const Expr> places = indices.shape();
  const Expr slices = product(sizes.first(named)), length = product(sizes.subspan(named));
  const Expr count = product(places.first(places.size() - 1));
  const Value numbers = onnx.reshape(slice_numbers(onnx, indices, sizes.first(named)), {count, 1});
  const Value made = onnx.scatter_elements(
      onnx.reshape(data, {slices, length}), onnx.expand(numbers, Shape{count, length}),
      onnx.reshape(updates, {count, length}),
      {.axis = 0, .reduction = std::string(use.text("reduction"))});
  return Values{onnx.reshape(made, Shape(sizes.begin(), sizes.end()))};
}

constexpr Rule kRows[] = {
    {.name = "slices-that-are-combined",
     .op = Op::kScatterND,
     .reason = Reason::kLacks,
     .when = combines,
     .how = by_elements,
     .why = "the documentation lists ScatterND without a reduction, which before was ignored",
     .since = "documentation of 10.1, read"},
};

}  // namespace

Rules tensorrt_scatter_rules() { return kRows; }

}  // namespace sardonyx::targets

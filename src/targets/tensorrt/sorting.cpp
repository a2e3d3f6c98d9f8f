// Sorting that TensorRT's documentation does not list.
#include <algorithm>

#include "onnx/infer/inference.h"
#include "targets/lowering.h"
#include "targets/tensorrt/tables.h"

namespace sardonyx::targets {
namespace {

bool is_unsorted(const Use& use) { return use.integer("sorted", 1) == 0; }

// Before: TopK<sorted = 0>(x, k)
// After:  TopK(x, k): any order may be the sorted one
std::optional<Values> sorted(const Use& use, const Rule& rule) {
  std::vector<Attribute> attributes(use.attributes.begin(), use.attributes.end());
  std::erase_if(attributes, [](const Attribute& each) { return each.name == "sorted"; });
  return use.onnx.without(rule, use, use.inputs, std::move(attributes));
}

// Those that one layer gives: ITopKLayer's documentation.
constexpr std::int64_t kMostOfTopK = 3840;
// Of an axis whose elements are compared one by one with each other.
constexpr std::int64_t kMostCompared = 16384;

std::optional<std::int64_t> count_of(const Use& use) {
  const auto known = onnx::contents_of(use.input(1).info());
  if (!known || known->size() != 1 || !(*known)[0].is_constant()) return std::nullopt;
  return (*known)[0].value();
}

// The size of the axis is known, and not too many for the square of it.
bool is_of_many(const Use& use) {
  const Value x = use.input(0);
  const auto count = count_of(use);
  if (!count || *count <= kMostOfTopK || !x.has_rank()) return false;
  const Expr size = x.dim(use.integer("axis", -1));
  return size.is_constant() && size.value() <= kMostCompared;
}

// How many elements of the last axis come before each of them.
Value ranks(Lowering& onnx, Value x, bool largest_first) {
  const Value own = onnx.unsqueeze(x, {-1}), other = onnx.unsqueeze(x, {-2});
  const Value precedes = largest_first ? onnx.greater(other, own) : onnx.less(other, own);
  const Value places = onnx.range(x.dim(-1));
  const Value is_earlier = onnx.less(onnx.unsqueeze(places, {0}), onnx.unsqueeze(places, {1}));
  const Value is_tie_before = onnx.and_(onnx.equal(other, own), is_earlier);
  const Value before = onnx.cast(onnx.or_(precedes, is_tie_before), DType::kInt32);
  return onnx.cast(onnx.reduce("ReduceSum", before, std::vector<std::int64_t>{-1}, false),
                   DType::kInt64);
}

// Before: TopK(x, k)
// After:  the place of each element among the others, scattered: as many comparisons as the axis'
//         size squared
std::optional<Values> by_ranks(const Use& use, const Rule&) {
  Lowering& onnx = use.onnx;
  const std::int64_t axis = use.integer("axis", -1);
  const Value x = onnx.swap_axes(use.input(0), axis, -1);
  const Value rank = ranks(onnx, x, use.integer("largest", 1) != 0);
  const Value places = onnx.expand(onnx.range(x.dim(-1)), x.shape());
  const Value sorted = onnx.scatter_elements(places, rank, places, {.axis = -1});
  const Value first = onnx.slice(sorted, -1, 0, *count_of(use));
  const Value values = onnx.gather_elements(x, first, {.axis = -1});
  return Values{onnx.swap_axes(values, axis, -1), onnx.swap_axes(first, axis, -1)};
}

constexpr Rule kRows[] = {
    {.name = "many-of-the-greatest",
     .op = Op::kTopK,
     .reason = Reason::kLacks,
     .when = is_of_many,
     .how = by_ranks,
     .why = "ITopKLayer gives at most 3840 elements; those of axes of unknown sizes, or of more "
            "than 16384, stay TopK",
     .since = "documentation of 11.0, read"},
    {.name = "greatest-in-any-order",
     .op = Op::kTopK,
     .reason = Reason::kLacks,
     .when = is_unsorted,
     .how = sorted,
     .why = "the documentation lists TopK with sorted = 1 only",
     .since = "documentation of 11.0, read"},
};

}  // namespace

Rules tensorrt_sorting_rules() { return kRows; }

}  // namespace sardonyx::targets

// Counts of elements in bins: histc, bincount, histogram, histogramdd.
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/ordering/ordering.h"

namespace sardonyx::aten {
namespace {

// ScatterElements adds from opset 16 on.
// The sum of the weights whose index (int64, 1-d) is each of `bins`; an index equal to `bins` is
// not counted.
Value counted(Emit& onnx, Value index, Value weights, std::int64_t bins) {
  const Value zeros = onnx.full(Shape{bins + 1}, onnx.zero(weights.dtype()));
  const Value counts =
      onnx.scatter_elements(zeros, index, weights, {.axis = 0, .reduction = "add"});
  return onnx.slice(counts, 0, 0, bins);
}

struct Range {
  Value low, high;  // 0-d
};

// The range of the data itself, `margin` to each side where it is a point.
Range data_range(Emit& onnx, Value x, double margin) {
  const std::vector<std::int64_t> axes = {0};
  const Value low = onnx.reduce("ReduceMin", x, axes, false);
  const Value high = onnx.reduce("ReduceMax", x, axes, false);
  const Value point = onnx.equal(low, high), step = onnx.scalar(margin, x.dtype());
  return {onnx.where(point, onnx.sub(low, step), low),
          onnx.where(point, onnx.add(high, step), high)};
}

// Equal bins over [min, max]; the last one takes max itself. NaN and what is outside counts
// nowhere. In PyTorch's order, and rounded to the data's own type after each step, so that edges
// round alike: by casts, as ONNX Runtime does not round between operators of half types.
Outputs histc(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const DType dtype = self.dtype();
  const std::int64_t bins = call.integer("bins");
  if (self.element_count().is(0)) return {onnx.full(Shape{bins}, onnx.zero(dtype))};
  const Scalar low = call.scalar("min"), high = call.scalar("max");
  const Value x = onnx.flatten_to_1d(self);
  Range range = {scalar_value(onnx, low, dtype), scalar_value(onnx, high, dtype)};
  if (low.is_constant() && high.is_constant() && low.as_double() == high.as_double()) {
    range = data_range(onnx, x, 1);
  }
  const DType wide = computing_type(dtype);
  const auto number = [&](Value a) { return onnx.cast(a, wide); };
  const auto rounded = [&](Value a) { return number(onnx.cast(a, dtype)); };
  const Value low_edge = number(range.low);
  const Value places = rounded(onnx.sub(number(x), low_edge));
  const Value steps = rounded(onnx.mul(places, onnx.scalar(static_cast<double>(bins), wide)));
  const Value width = rounded(onnx.sub(number(range.high), low_edge));
  const Value scaled = rounded(onnx.div(steps, width));
  const Value inside =
      onnx.and_(onnx.greater_or_equal(x, range.low), onnx.less_or_equal(x, range.high));
  const Value bin = onnx.cast(onnx.where(inside, scaled, onnx.zero(wide)), DType::kInt64);
  const Value last = onnx.min({bin, onnx.int_scalar(bins - 1)});
  const Value index = onnx.where(inside, last, onnx.int_scalar(bins));
  const Value ones = onnx.expand(onnx.one(DType::kFloat32), index.shape());
  return {onnx.cast(counted(onnx, index, ones, bins), dtype)};
}

// As many bins as the largest element asks for. `minlength` - 1 joins the data, so that the maximum
// of no elements has an answer.
Outputs bincount(const Call& call, Emit& onnx) {
  const Value x = onnx.cast(call.tensor("self"), DType::kInt64);
  const DType dtype = call.result_dtype();
  const Value weights = call.has("weights") ? onnx.cast(call.tensor("weights"), dtype)
                                            : onnx.full(x.shape(), onnx.one(dtype));
  const Value least = onnx.sub(onnx.sizes({call.size("minlength")}), onnx.ints({1}));
  const std::vector<std::int64_t> axes = {0};
  const Value highest = onnx.reduce("ReduceMax", onnx.concat({x, least}, 0), axes, true);
  const Value zeros = onnx.expand(onnx.zero(dtype), onnx.add(highest, onnx.ints({1})));
  return {onnx.scatter_elements(zeros, x, weights, {.axis = 0, .reduction = "add"})};
}

// --- bins with edges

// bins + 1 edges from both ends, as PyTorch's linspace counts.
Value equal_edges(Emit& onnx, const Range& range, std::int64_t bins) {
  const DType dtype = range.low.dtype();
  const auto number = [&](std::int64_t n) { return onnx.scalar(static_cast<double>(n), dtype); };
  const Value index = onnx.range(bins + 1);
  const Value step = onnx.div(onnx.sub(range.high, range.low), number(bins));
  const Value place = onnx.cast(index, dtype);
  const Value up = onnx.add(range.low, onnx.mul(step, place));
  const Value down = onnx.sub(range.high, onnx.mul(step, onnx.sub(number(bins), place)));
  return onnx.where(onnx.less(index, onnx.int_scalar((bins + 1) / 2)), up, down);
}

Range range_of(const Call& call, Emit& onnx, Value x, std::size_t dimension) {
  if (call.captured().schema->find("range") && call.has("range")) {
    const std::vector<double> ends = call.numbers("range");
    const double low = ends.at(2 * dimension), high = ends.at(2 * dimension + 1);
    const double margin = low == high ? 0.5 : 0;
    return {onnx.scalar(low - margin, x.dtype()), onnx.scalar(high + margin, x.dtype())};
  }
  if (x.dim(0).is(0)) return {onnx.zero(x.dtype()), onnx.one(x.dtype())};
  return data_range(onnx, x, 0.5);
}

struct Binned {
  Value inside;  // bool [n]
  Value place;   // int64 [n], a bin where inside
};

// The bin between whose edges each element is; the last takes its upper edge too.
Binned binned(Emit& onnx, Value x, Value edges) {
  const Value bins = onnx.size(edges.dim(0) - 1), one = onnx.int_scalar(1);
  const Value low = onnx.gather(edges, onnx.int_scalar(0));
  const Value high = onnx.gather(edges, bins);
  const Value inside = onnx.and_(onnx.greater_or_equal(x, low), onnx.less_or_equal(x, high));
  const Value found = onnx.sub(insertion_points(onnx, edges, x, true), one);
  return {inside, onnx.min({found, onnx.sub(bins, one)})};
}

// Each edge list's bins make one axis of the result.
Value histogram_over(const Call& call, Emit& onnx, const std::vector<Value>& columns,
                     const std::vector<Value>& edges) {
  const DType dtype = columns.front().dtype();
  Value inside, place;
  Shape shape;
  std::int64_t bins = 1;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::optional<std::int64_t> count = edges[i].dim(0).constant();
    if (!count) call.refuse("a histogram with a number of bins that is not known", "fix it");
    const Binned part = binned(onnx, columns[i], edges[i]);
    inside = inside ? onnx.and_(inside, part.inside) : part.inside;
    place = place ? onnx.add(onnx.mul(place, onnx.int_scalar(*count - 1)), part.place) : part.place;
    shape.push_back(*count - 1);
    bins *= *count - 1;
  }
  const Value weights = call.has("weight")
                            ? onnx.cast(onnx.flatten_to_1d(call.tensor("weight")), dtype)
                            : onnx.full(columns.front().shape(), onnx.one(dtype));
  const Value index = onnx.where(inside, place, onnx.int_scalar(bins));
  Value hist = onnx.reshape(counted(onnx, index, weights, bins), shape);
  if (!call.flag("density")) return hist;
  hist = onnx.div(hist, onnx.reduce_sum(hist, {}, {.keepdims = 0}));
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Value widths =
        onnx.sub(onnx.slice(edges[i], 0, 1, std::numeric_limits<std::int64_t>::max()),
                 onnx.slice(edges[i], 0, 0, -1));
    Shape along(shape.size(), 1);
    along[i] = shape[i];
    hist = onnx.div(hist, onnx.reshape(widths, along));
  }
  return hist;
}

Outputs histogram_bin_ct(const Call& call, Emit& onnx) {
  const Value x = onnx.flatten_to_1d(call.tensor("self"));
  const Value edges = equal_edges(onnx, range_of(call, onnx, x, 0), call.integer("bins"));
  return {histogram_over(call, onnx, {x}, {edges}), edges};
}

Outputs histogram_bins_tensor(const Call& call, Emit& onnx) {
  const Value x = onnx.flatten_to_1d(call.tensor("self"));
  const Value edges = call.tensor("bins");
  return {histogram_over(call, onnx, {x}, {edges}), edges};
}

// --- several dimensions: the last axis holds an element's coordinates

std::vector<Value> columns_of(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::optional<std::int64_t> dimensions = self.dim(-1).constant();
  if (!dimensions) call.refuse("histogramdd over a number of dimensions that is not known");
  Expr count = 1;
  for (std::int64_t i = 0; i + 1 < self.rank(); ++i) count = count * self.dim(i);
  const Value rows = onnx.reshape(self, {count, *dimensions});
  std::vector<Value> columns;
  for (std::int64_t i = 0; i < *dimensions; ++i) columns.push_back(onnx.select(rows, 1, i));
  return columns;
}

std::vector<Value> counted_edges(const Call& call, Emit& onnx, const std::vector<Value>& columns) {
  std::vector<std::int64_t> bins = call.integers("bins");
  if (bins.size() == 1) bins.resize(columns.size(), bins.front());
  std::vector<Value> edges;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    edges.push_back(equal_edges(onnx, range_of(call, onnx, columns[i], i), bins.at(i)));
  }
  return edges;
}

Outputs with_edges(Value hist, const std::vector<Value>& edges) {
  Outputs outputs = {hist};
  outputs.insert(outputs.end(), edges.begin(), edges.end());
  return outputs;
}

Outputs histogramdd(const Call& call, Emit& onnx) {
  const std::vector<Value> columns = columns_of(call, onnx);
  const std::vector<Value> edges = counted_edges(call, onnx, columns);
  return with_edges(histogram_over(call, onnx, columns, edges), edges);
}

Outputs histogramdd_tensors(const Call& call, Emit& onnx) {
  const std::vector<Value> edges = call.tensors("bins");
  return with_edges(histogram_over(call, onnx, columns_of(call, onnx), edges), edges);
}

Outputs histogramdd_bin_edges(const Call& call, Emit& onnx) {
  return counted_edges(call, onnx, columns_of(call, onnx));
}

Outputs histogramdd_from_bin_cts(const Call& call, Emit& onnx) {
  return {histogramdd(call, onnx).front()};
}

Outputs histogramdd_from_bin_tensors(const Call& call, Emit& onnx) {
  return {histogramdd_tensors(call, onnx).front()};
}

constexpr Row kRows[] = {
    {"aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? "
     "weight=None, bool density=False) -> Tensor[]",
     histogramdd_bin_edges},
    {"aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? "
     "weight=None, bool density=False) -> Tensor",
     histogramdd_from_bin_cts},
    {"aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool "
     "density=False) -> Tensor",
     histogramdd_from_bin_tensors},
    {"aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor", bincount},
    {"aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", histc},
    {"aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? "
     "weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
     histogram_bin_ct},
    {"aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool "
     "density=False) -> (Tensor hist, Tensor bin_edges)",
     histogram_bins_tensor},
    {"aten::histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool "
     "density=False) -> (Tensor hist, Tensor[] bin_edges)",
     histogramdd},
    {"aten::histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? "
     "weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
     histogramdd_tensors},
    {"aten::histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, "
     "bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
     histogramdd},
};

}  // namespace

std::span<const Row> histogram_rows() { return kRows; }

}  // namespace sardonyx::aten

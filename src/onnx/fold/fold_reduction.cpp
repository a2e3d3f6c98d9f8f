// Reductions of integer constants, as shape arithmetic uses them.
#include <algorithm>
#include <numeric>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx::folding {
namespace {

using Combine = std::int64_t (*)(std::int64_t, std::int64_t);

// Empty ranges are left to the runtime: only sums and products have a neutral element.
Result reduce(const Operands& o, Combine combine) {
  const Tensor* x = o.at(0);
  if (x == nullptr || (x->dtype != DType::kInt64 && x->dtype != DType::kInt32)) return {};
  const auto values = x->ints();
  if (!values || values->empty()) return {};
  const auto rank = static_cast<std::int64_t>(x->dims.size());
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  const bool given = o.at(1) != nullptr || o.node.ints("axes") != nullptr;
  if (given) {
    const auto found = axes_of(o, 1, rank);
    if (!found) return {};
    if (!found->empty()) axes = *found;
    if (found->empty() && o.node.int_or("noop_with_empty_axes", 0) != 0) return {};
  }
  const bool keep = o.node.int_or("keepdims", 1) != 0;
  const auto reduced = [&](std::size_t axis) {
    return std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
  };
  Dims kept, dims;
  for (std::size_t i = 0; i < x->dims.size(); ++i) {
    kept.push_back(reduced(i) ? 1 : x->dims[i]);
    if (keep || !reduced(i)) dims.push_back(kept.back());
  }
  const Dims strides = broadcast_strides(kept, x->dims);
  std::vector<std::optional<std::int64_t>> results(
      static_cast<std::size_t>(small_count(kept).value_or(0)));
  each_index(x->dims, [&](std::int64_t i, const Dims& index) {
    const auto at = static_cast<std::size_t>(
        std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0}));
    const std::int64_t value = (*values)[static_cast<std::size_t>(i)];
    results[at] = results[at] ? combine(*results[at], value) : value;
  });
  std::vector<std::byte> bytes(results.size() * 8);
  const std::int64_t width = base::bit_width(x->dtype) / 8;
  for (std::size_t i = 0; i < results.size(); ++i) {
    store_int(x->dtype, results[i].value_or(0),
              bytes.data() + static_cast<std::int64_t>(i) * width);
  }
  bytes.resize(results.size() * static_cast<std::size_t>(width));
  return {{Tensor::of_bytes(x->dtype, std::move(dims), bytes)}};
}

Result reduce_sum(const Operands& o) {
  return reduce(o, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  });
}
Result reduce_prod(const Operands& o) {
  return reduce(o, [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  });
}
Result reduce_max(const Operands& o) {
  return reduce(o, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}
Result reduce_min(const Operands& o) {
  return reduce(o, [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
}

// Sums of integers up to each one.
Result cumulative_sum(const Operands& o) {
  const Tensor *x = o.at(0), *at = o.at(1);
  const auto axis_of = at != nullptr ? at->ints() : std::nullopt;
  if (x == nullptr || x->dtype != DType::kInt64 || !axis_of || axis_of->size() != 1) return {};
  if (o.node.int_or("exclusive", 0) != 0 || o.node.int_or("reverse", 0) != 0) return {};
  const auto rank = static_cast<std::int64_t>(x->dims.size());
  const std::int64_t axis = axis_of->front() < 0 ? axis_of->front() + rank : axis_of->front();
  auto values = x->ints();
  if (!values || axis < 0 || axis >= rank) return {};
  const auto along = static_cast<std::size_t>(axis);
  const auto step = static_cast<std::size_t>(row_major(x->dims)[along]);
  each_index(x->dims, [&](std::int64_t i, const Dims& index) {
    const auto here = static_cast<std::size_t>(i);
    if (index[along] == 0) return;
    (*values)[here] = static_cast<std::int64_t>(static_cast<std::uint64_t>((*values)[here]) +
                                                static_cast<std::uint64_t>((*values)[here - step]));
  });
  return {{Tensor::of_ints(*values, x->dims)}};
}

constexpr Entry kEntries[] = {
    {"CumSum", cumulative_sum},  {"ReduceMax", reduce_max}, {"ReduceMin", reduce_min},
    {"ReduceProd", reduce_prod}, {"ReduceSum", reduce_sum},
};

}  // namespace

std::span<const Entry> reduction_folders() { return kEntries; }

}  // namespace sardonyx::onnx::folding

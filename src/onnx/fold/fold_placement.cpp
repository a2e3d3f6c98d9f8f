// Operators that put elements of constants where numbers say: copies, borders, updates.
#include <algorithm>
#include <numeric>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx::folding {
namespace {

// A large result is better made by the runtime than carried in the file; of weights, others carry
// more.
bool is_worth_carrying(const Operands& o, const Dims& dims) {
  const std::int64_t most = o.weights == Weights::kFold ? std::int64_t{1} << 16 : 4096;
  const auto count = o.count(dims);
  return count && *count <= most;
}

std::optional<std::int64_t> from_front(std::int64_t axis, std::int64_t rank) {
  if (axis < 0) axis += rank;
  return axis < 0 || axis >= rank ? std::nullopt : std::optional(axis);
}

std::int64_t rank_of(const Tensor& x) { return static_cast<std::int64_t>(x.dims.size()); }

Result flatten(const Operands& o) {
  const Tensor* x = o.at(0);
  if (x == nullptr) return {};
  const std::int64_t given = o.node.int_or("axis", 1), rank = rank_of(*x);
  const std::int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis > rank) return {};
  const auto middle = x->dims.begin() + axis;
  const auto product = [](auto from, auto to) {
    return std::accumulate(from, to, std::int64_t{1}, std::multiplies<>());
  };
  Tensor result = *x;
  result.dims = {product(x->dims.begin(), middle), product(middle, x->dims.end())};
  return {{std::move(result)}};
}

Result tile(const Operands& o) {
  const Tensor* x = o.at(0);
  const auto repeats = o.at(1) != nullptr ? o.at(1)->ints() : std::nullopt;
  if (x == nullptr || !repeats || repeats->size() != x->dims.size()) return {};
  Dims dims = x->dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if ((*repeats)[i] < 0 || ((*repeats)[i] != 0 && dims[i] > o.most_elements() / (*repeats)[i]))
      return {};
    dims[i] *= (*repeats)[i];
  }
  if (!is_worth_carrying(o, dims)) return {};
  const Dims own = row_major(x->dims);
  std::vector<std::int64_t> source;
  each_index(dims, [&](std::int64_t, const Dims& index) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < index.size(); ++i) at += index[i] % x->dims[i] * own[i];
    source.push_back(at);
  });
  return {{gathered(*x, std::move(dims), source)}};
}

Result one_hot(const Operands& o) {
  const Tensor *indices = o.at(0), *depth = o.at(1), *values = o.at(2);
  if (indices == nullptr || depth == nullptr || values == nullptr || values->element_count() != 2)
    return {};
  const auto places = indices->ints(), many = depth->ints();
  const auto axis = from_front(o.node.int_or("axis", -1), rank_of(*indices) + 1);
  if (!places || !many || many->size() != 1 || !axis) return {};
  const auto at = static_cast<std::size_t>(*axis);
  Dims dims = indices->dims;
  dims.insert(dims.begin() + *axis, many->front());
  if (!is_worth_carrying(o, dims)) return {};
  const Dims own = row_major(indices->dims);
  std::vector<std::int64_t> source;
  each_index(dims, [&](std::int64_t, const Dims& index) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
      if (i != at) from += index[i] * own[i > at ? i - 1 : i];
    std::int64_t place = (*places)[static_cast<std::size_t>(from)];
    if (place < 0) place += many->front();
    source.push_back(place == index[at] ? 1 : 0);
  });
  return {{gathered(*values, std::move(dims), source)}};
}

// Of the type of what it is like.
Result eye_like(const Operands& o) {
  const Tensor* x = o.at(0);
  if (x == nullptr || x->dims.size() != 2 || !is_worth_carrying(o, x->dims)) return {};
  const auto dtype =
      static_cast<DType>(o.node.int_or("dtype", static_cast<std::int64_t>(x->dtype)));
  if (base::bit_width(dtype) < 8) return {};
  const std::int64_t k = o.node.int_or("k", 0);
  const Tensor zero = Tensor::filled(dtype, {1}, 0), one = Tensor::filled(dtype, {1}, 1);
  std::vector<std::byte> bytes;
  const auto width = static_cast<std::size_t>(base::bit_width(dtype) / 8);
  each_index(x->dims, [&](std::int64_t, const Dims& index) {
    const std::byte* from = index[1] - index[0] == k ? one.data : zero.data;
    bytes.insert(bytes.end(), from, from + width);
  });
  return {{Tensor::of_bytes(dtype, x->dims, bytes)}};
}

// By a number; nothing is cut off.
Result pad(const Operands& o) {
  const Tensor *x = o.at(0), *filling = o.at(2);
  const auto pads = o.at(1) != nullptr ? o.at(1)->ints() : std::nullopt;
  if (x == nullptr || !pads || o.node.string_or("mode", "constant") != "constant" ||
      (filling != nullptr && (filling->element_count() != 1 || filling->dtype != x->dtype)))
    return {};
  const std::size_t rank = x->dims.size();
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (o.at(3) != nullptr) {
    const auto given = axes_of(o, 3, rank_of(*x));
    if (!given) return {};
    axes = *given;
  }
  if (pads->size() != 2 * axes.size() || std::ranges::any_of(*pads, [](auto p) { return p < 0; }))
    return {};
  Dims before(rank, 0), dims = x->dims;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    before[axis] = (*pads)[i];
    dims[axis] += (*pads)[i] + (*pads)[i + axes.size()];
  }
  if (!is_worth_carrying(o, dims)) return {};
  const Tensor zero = Tensor::filled(x->dtype, {1}, 0);
  const Dims own = row_major(x->dims);
  const auto width = static_cast<std::size_t>(base::bit_width(x->dtype) / 8);
  std::vector<std::byte> bytes;
  each_index(dims, [&](std::int64_t, const Dims& index) {
    const std::byte* from = filling != nullptr ? filling->data : zero.data;
    std::int64_t at = 0;
    bool inside = true;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t here = index[i] - before[i];
      inside = inside && here >= 0 && here < x->dims[i];
      at += here * own[i];
    }
    if (inside) from = x->data + at * static_cast<std::int64_t>(width);
    bytes.insert(bytes.end(), from, from + width);
  });
  return {{Tensor::of_bytes(x->dtype, std::move(dims), bytes)}};
}

// [rank, count]
Result non_zero(const Operands& o) {
  const Tensor* x = o.at(0);
  if (x == nullptr || x->dims.empty()) return {};
  const auto reals = base::is_floating(x->dtype) ? x->reals() : std::nullopt;
  const auto ints = reals ? std::nullopt : x->ints();
  if (!reals && !ints) return {};
  std::vector<Dims> found(x->dims.size());
  each_index(x->dims, [&](std::int64_t i, const Dims& index) {
    const auto at = static_cast<std::size_t>(i);
    if (reals ? (*reals)[at] == 0 : (*ints)[at] == 0) return;
    for (std::size_t axis = 0; axis < index.size(); ++axis) found[axis].push_back(index[axis]);
  });
  const auto count = static_cast<std::int64_t>(found.front().size());
  std::vector<std::int64_t> all;
  for (const Dims& each : found) all.insert(all.end(), each.begin(), each.end());
  return {{Tensor::of_ints(all, {rank_of(*x), count})}};
}

// Elements of `updates` at places along an axis of `data`, which are counted from behind where they
// are below zero.
Result gather_elements(const Operands& o) {
  const Tensor *x = o.at(0), *indices = o.at(1);
  if (x == nullptr || indices == nullptr || x->dims.size() != indices->dims.size()) return {};
  const auto axis = from_front(o.node.int_or("axis", 0), rank_of(*x));
  const auto places = indices->ints();
  if (!axis || !places) return {};
  const Dims own = row_major(x->dims);
  std::vector<std::int64_t> source;
  bool certain = true;
  each_index(indices->dims, [&](std::int64_t i, const Dims& index) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < index.size(); ++k) {
      const bool along = k == static_cast<std::size_t>(*axis);
      std::int64_t here = along ? (*places)[static_cast<std::size_t>(i)] : index[k];
      if (here < 0) here += x->dims[k];
      certain = certain && here >= 0 && here < x->dims[k];
      at += here * own[k];
    }
    source.push_back(at);
  });
  return certain ? Result{{gathered(*x, indices->dims, source)}} : Result{};
}

// Without a reduction; of equal places the last one counts.
Result scatter_nd(const Operands& o) {
  const Tensor *x = o.at(0), *indices = o.at(1), *updates = o.at(2);
  if (x == nullptr || indices == nullptr || updates == nullptr || indices->dims.empty() ||
      updates->dtype != x->dtype || o.node.string_or("reduction", "none") != "none")
    return {};
  const auto places = indices->ints();
  const auto depth = static_cast<std::size_t>(indices->dims.back());
  if (!places || depth == 0 || depth > x->dims.size()) return {};
  const Dims own = row_major(x->dims);
  const std::int64_t width = base::bit_width(x->dtype) / 8;
  const std::int64_t block =
      width * std::accumulate(x->dims.begin() + static_cast<std::ptrdiff_t>(depth), x->dims.end(),
                              std::int64_t{1}, std::multiplies<>());
  const std::int64_t count = static_cast<std::int64_t>(places->size() / depth);
  if (updates->element_count() * width != count * block) return {};
  std::vector<std::byte> bytes(x->data, x->data + x->element_count() * width);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      std::int64_t here = (*places)[static_cast<std::size_t>(i) * depth + k];
      if (here < 0) here += x->dims[k];
      if (here < 0 || here >= x->dims[k]) return {};
      at += here * own[k];
    }
    std::copy_n(updates->data + i * block, block, bytes.data() + at * width);
  }
  return {{Tensor::of_bytes(x->dtype, x->dims, bytes)}};
}

constexpr Entry kEntries[] = {
    {"EyeLike", eye_like}, {"Flatten", flatten},      {"GatherElements", gather_elements},
    {"NonZero", non_zero}, {"OneHot", one_hot},       {"Pad", pad},
    {"Tile", tile},        {"ScatterND", scatter_nd},
};

}  // namespace

std::span<const Entry> placement_folders() { return kEntries; }

}  // namespace sardonyx::onnx::folding

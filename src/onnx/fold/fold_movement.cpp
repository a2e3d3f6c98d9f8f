// Operators that move elements of constants: other shapes, orders and selections.
#include <algorithm>
#include <numeric>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx::folding {
namespace {

// The same bytes under other dims.
Result reshaped(const Operands& o, Dims dims) {
  const auto count = o.count(dims);
  if (!count || *count != o.at(0)->element_count()) return {};
  Tensor result = *o.at(0);
  result.dims = std::move(dims);
  result.strides.clear();
  result.recipe = nullptr;
  return {{std::move(result)}};
}

Result identity(const Operands& o) {
  return o.at(0) != nullptr ? reshaped(o, o.at(0)->dims) : Result{};
}

Result reshape(const Operands& o) {
  const Tensor *x = o.at(0), *shape = o.at(1);
  const auto wanted = shape != nullptr ? shape->ints() : std::nullopt;
  if (x == nullptr || !wanted) return {};
  Dims dims = *wanted;
  const bool allow_zero = o.node.int_or("allowzero", 0) != 0;
  Dims sizes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allow_zero) {
      if (i >= x->dims.size()) return {};
      dims[i] = x->dims[i];
    }
    if (dims[i] >= 0) sizes.push_back(dims[i]);
  }
  const auto known = o.count(sizes);
  if (!known) return {};
  for (std::int64_t& dim : dims) {
    if (dim >= 0) continue;
    if (*known == 0) return {};
    dim = x->element_count() / *known;
  }
  return reshaped(o, std::move(dims));
}

// What an input says, or an attribute as in older versions.
std::optional<Dims> numbers(const Operands& o, std::size_t index, std::string_view attribute) {
  if (o.at(index) != nullptr) return o.at(index)->ints();
  const auto* older = o.node.ints(attribute);
  return older != nullptr ? std::optional(*older) : std::nullopt;
}

Result unsqueeze(const Operands& o) {
  const Tensor* x = o.at(0);
  const auto given = numbers(o, 1, "axes");
  if (x == nullptr || !given) return {};
  const auto rank = static_cast<std::int64_t>(x->dims.size() + given->size());
  const auto axes = axes_of(o, 1, rank);
  if (!axes) return {};
  Dims dims(static_cast<std::size_t>(rank), -1);
  for (const std::int64_t axis : *axes) dims[static_cast<std::size_t>(axis)] = 1;
  auto next = x->dims.begin();
  for (std::int64_t& dim : dims) {
    if (dim < 0) dim = next != x->dims.end() ? *next++ : 1;
  }
  return reshaped(o, std::move(dims));
}

Result squeeze(const Operands& o) {
  const Tensor* x = o.at(0);
  if (x == nullptr) return {};
  const auto axes = axes_of(o, 1, static_cast<std::int64_t>(x->dims.size()));
  if (!axes) return {};
  Dims dims;
  for (std::size_t i = 0; i < x->dims.size(); ++i) {
    const bool drop = std::ranges::find(*axes, static_cast<std::int64_t>(i)) != axes->end();
    if (drop && x->dims[i] != 1) return {};
    if (!drop) dims.push_back(x->dims[i]);
  }
  return reshaped(o, std::move(dims));
}

Result transpose(const Operands& o) {
  const Tensor* x = o.at(0);
  if (x == nullptr) return {};
  const std::size_t rank = x->dims.size();
  Dims order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  if (const auto* perm = o.node.ints("perm")) order = *perm;
  if (order.size() != rank) return {};
  const Dims strides = row_major(x->dims);
  Dims dims(rank), moved(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    dims[i] = x->dims[static_cast<std::size_t>(order[i])];
    moved[i] = strides[static_cast<std::size_t>(order[i])];
  }
  return {{strided(*x, std::move(dims), 0, moved)}};
}

Result expand(const Operands& o) {
  const Tensor *x = o.at(0), *shape = o.at(1);
  const auto wanted = shape != nullptr ? shape->ints() : std::nullopt;
  if (x == nullptr || !wanted) return {};
  const auto dims = broadcast(x->dims, *wanted);
  if (!dims || !o.count(*dims)) return {};
  return {{strided(*x, *dims, 0, broadcast_strides(x->dims, *dims))}};
}

Result concat(const Operands& o) {
  if (o.inputs.empty()) return {};
  for (const Tensor* part : o.inputs) {
    if (part == nullptr || part->dtype != o.inputs[0]->dtype) return {};
    if (part->dims.size() != o.inputs[0]->dims.size()) return {};
  }
  const auto rank = static_cast<std::int64_t>(o.inputs[0]->dims.size());
  std::int64_t axis = o.node.int_or("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return {};
  Dims dims = o.inputs[0]->dims;
  const auto at = static_cast<std::size_t>(axis);
  dims[at] = 0;
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < at; ++i) outer *= dims[i];
  for (const Tensor* part : o.inputs) dims[at] += part->dims[at];
  if (!o.count(dims)) return {};
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < outer; ++i) {
    for (const Tensor* part : o.inputs) {
      const std::int64_t block = part->byte_count() / outer;
      bytes.insert(bytes.end(), part->data + i * block, part->data + (i + 1) * block);
    }
  }
  return {{Tensor::of_bytes(o.inputs[0]->dtype, std::move(dims), bytes)}};
}

Result gather(const Operands& o) {
  const Tensor *x = o.at(0), *indices = o.at(1);
  const auto wanted = indices != nullptr ? indices->ints() : std::nullopt;
  if (x == nullptr || !wanted || x->dims.empty()) return {};
  const auto rank = static_cast<std::int64_t>(x->dims.size());
  std::int64_t axis = o.node.int_or("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return {};
  const auto at = static_cast<std::size_t>(axis);
  const Dims before(x->dims.begin(), x->dims.begin() + axis);
  const Dims after(x->dims.begin() + axis + 1, x->dims.end());
  Dims dims = before;
  dims.insert(dims.end(), indices->dims.begin(), indices->dims.end());
  dims.insert(dims.end(), after.begin(), after.end());
  if (!o.count(dims)) return {};
  const auto product = [](const Dims& of) {
    return std::accumulate(of.begin(), of.end(), std::int64_t{1}, std::multiplies<>());
  };
  const std::int64_t outer = product(before), inner = product(after);
  std::vector<std::int64_t> source;
  for (std::int64_t i = 0; i < outer; ++i) {
    for (std::int64_t index : *wanted) {
      if (index < 0) index += x->dims[at];
      if (index < 0 || index >= x->dims[at]) return {};
      for (std::int64_t k = 0; k < inner; ++k) {
        source.push_back((i * x->dims[at] + index) * inner + k);
      }
    }
  }
  return {{gathered(*x, std::move(dims), source)}};
}

Result gather_nd(const Operands& o) {
  const Tensor *x = o.at(0), *indices = o.at(1);
  const auto wanted = indices != nullptr ? indices->ints() : std::nullopt;
  if (x == nullptr || !wanted || indices->dims.empty() || o.node.int_or("batch_dims", 0) != 0)
    return {};
  const std::int64_t depth = indices->dims.back();
  if (depth < 1 || depth > static_cast<std::int64_t>(x->dims.size())) return {};
  const Dims after(x->dims.begin() + depth, x->dims.end());
  Dims dims(indices->dims.begin(), indices->dims.end() - 1);
  dims.insert(dims.end(), after.begin(), after.end());
  const auto inner = o.count(after);
  if (!inner || !o.count(dims)) return {};
  const Dims strides = row_major(x->dims);
  std::vector<std::int64_t> source;
  for (std::size_t i = 0; i < wanted->size(); i += static_cast<std::size_t>(depth)) {
    std::int64_t first = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(depth); ++axis) {
      std::int64_t index = (*wanted)[i + axis];
      if (index < 0) index += x->dims[axis];
      if (index < 0 || index >= x->dims[axis]) return {};
      first += index * strides[axis];
    }
    for (std::int64_t k = 0; k < *inner; ++k) source.push_back(first + k);
  }
  return {{gathered(*x, std::move(dims), source)}};
}

Result slice(const Operands& o) {
  const Tensor* x = o.at(0);
  const auto starts = numbers(o, 1, "starts"), ends = numbers(o, 2, "ends");
  if (x == nullptr || !starts || !ends || starts->size() != ends->size()) return {};
  std::vector<std::int64_t> axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  const auto rank = static_cast<std::int64_t>(x->dims.size());
  if (o.at(3) != nullptr || o.node.ints("axes") != nullptr) {
    const auto given = axes_of(o, 3, rank);
    if (!given || given->size() != starts->size()) return {};
    axes = *given;
  }
  std::vector<std::int64_t> steps(starts->size(), 1);
  if (o.at(4) != nullptr) {
    const auto given = o.at(4)->ints();
    if (!given || given->size() != starts->size()) return {};
    steps = *given;
  }
  Dims dims = x->dims, first(x->dims.size(), 0), step(x->dims.size(), 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (axis >= dims.size() || steps[i] == 0) return {};
    const std::int64_t size = x->dims[axis];
    const bool forward = steps[i] > 0;
    const auto clamp = [&](std::int64_t at) {
      if (at < 0) at = at < -size ? -1 : at + size;
      return std::clamp<std::int64_t>(at, forward ? 0 : -1, forward ? size : size - 1);
    };
    const std::int64_t start = clamp((*starts)[i]);
    const std::int64_t end = clamp((*ends)[i]);
    const std::int64_t span = forward ? end - start : start - end;
    const std::int64_t stride = forward ? steps[i] : -steps[i];
    first[axis] = start;
    step[axis] = steps[i];
    dims[axis] = span > 0 ? (span + stride - 1) / stride : 0;
  }
  Dims strides = row_major(x->dims);
  const std::int64_t begin =
      std::inner_product(first.begin(), first.end(), strides.begin(), std::int64_t{0});
  for (std::size_t k = 0; k < strides.size(); ++k) strides[k] *= step[k];
  return {{strided(*x, std::move(dims), begin, strides)}};
}

// Parts whose sizes are given, or that are as large as one another.
Result split(const Operands& o) {
  const Tensor* x = o.at(0);
  if (x == nullptr) return {};
  const bool given = o.at(1) != nullptr || o.node.ints("split") != nullptr;
  const auto rank = static_cast<std::int64_t>(x->dims.size());
  std::int64_t axis = o.node.int_or("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return {};
  const auto at = static_cast<std::size_t>(axis);
  const auto parts = static_cast<std::int64_t>(o.node.outputs.size());
  if (!given && (parts == 0 || x->dims[at] % parts != 0)) return {};
  auto sizes = given ? numbers(o, 1, "split")
                     : std::vector<std::int64_t>(o.node.outputs.size(), x->dims[at] / parts);
  if (!sizes || sizes->size() != o.node.outputs.size() ||
      std::accumulate(sizes->begin(), sizes->end(), std::int64_t{0}) != x->dims[at])
    return {};
  const Dims strides = row_major(x->dims);
  std::vector<Tensor> results;
  std::int64_t begin = 0;
  for (const std::int64_t size : *sizes) {
    Dims dims = x->dims;
    dims[at] = size;
    if (!o.count(dims)) return {};
    results.push_back(strided(*x, std::move(dims), begin * strides[at], strides));
    begin += size;
  }
  return results;
}

// Above or below a diagonal everything is 0.
Result triangle(const Operands& o) {
  const Tensor *x = o.at(0), *given = o.at(1);
  if (x == nullptr || x->dims.size() < 2) return {};
  std::int64_t diagonal = 0;
  if (given != nullptr) {
    const auto ints = given->ints();
    if (!ints || ints->size() != 1) return {};
    diagonal = ints->front();
  }
  const bool upper = o.node.int_or("upper", 1) != 0;
  const std::int64_t rows = x->dims[x->dims.size() - 2], columns = x->dims.back();
  const std::int64_t width = base::bit_width(x->dtype) / 8;
  const std::int64_t count = x->element_count();
  // So far beyond the corners that sums would overflow.
  diagonal = std::clamp(diagonal, -rows - 1, columns + 1);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * width));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t right = i % columns - i / columns % rows;
    if (upper ? right >= diagonal : right <= diagonal)
      std::copy_n(x->data + i * width, width, bytes.data() + i * width);
  }
  return {{Tensor::of_bytes(x->dtype, x->dims, bytes)}};
}

constexpr Entry kEntries[] = {
    {"Concat", concat},     {"Expand", expand},       {"Gather", gather},  {"GatherND", gather_nd},
    {"Identity", identity}, {"Reshape", reshape},     {"Slice", slice},    {"Split", split},
    {"Squeeze", squeeze},   {"Transpose", transpose}, {"Trilu", triangle}, {"Unsqueeze", unsqueeze},
};

}  // namespace

std::span<const Entry> movement_folders() { return kEntries; }

}  // namespace sardonyx::onnx::folding

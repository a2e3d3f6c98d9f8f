// Products that add nothing up, which come out the same on every machine: angles as positions times
// frequencies, say.
#include <algorithm>
#include <string>
#include <utility>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx::folding {
namespace {

// Of two tensors, whose element at an index of the result lies `strides` apart in each.
Result outer(const Operands& o, Dims dims, const Dims& of_a, const Dims& of_b) {
  const Tensor *a = o.at(0), *b = o.at(1);
  const auto count = o.count(dims);
  if (!count || a->dtype != b->dtype || !base::is_floating(a->dtype)) return {};
  const std::int64_t width = base::bit_width(a->dtype) / 8;
  std::vector<std::byte> bytes(static_cast<std::size_t>(*count * width));
  each_index(dims, [&](std::int64_t i, const Dims& index) {
    std::int64_t at_a = 0, at_b = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      at_a += index[axis] * of_a[axis];
      at_b += index[axis] * of_b[axis];
    }
    store_real(
        a->dtype,
        load_real(a->dtype, a->data + at_a * width) * load_real(b->dtype, b->data + at_b * width),
        bytes.data() + i * width);
  });
  return {{Tensor::of_bytes(a->dtype, std::move(dims), bytes)}};
}

// [..., m, 1] by [..., 1, n]; sums, of weights alone.
Result matmul(const Operands& o) {
  const Tensor *a = o.at(0), *b = o.at(1);
  if (a == nullptr || b == nullptr || a->dims.size() < 2 || b->dims.size() < 2 ||
      a->dims.back() != 1 || b->dims[b->dims.size() - 2] != 1)
    return matrix_product(o);
  const auto dims = broadcast(a->dims, b->dims);
  if (!dims) return {};
  return outer(o, *dims, broadcast_strides(a->dims, *dims), broadcast_strides(b->dims, *dims));
}

// How far apart the elements of a term lie along each axis of the result; nothing where an axis is
// there twice, or is not one of the result's.
std::optional<Dims> strides_of(std::string_view term, const Tensor& tensor,
                               std::string_view result) {
  if (term.size() != tensor.dims.size()) return std::nullopt;
  const Dims own = row_major(tensor.dims);
  Dims strides(result.size(), 0);
  for (std::size_t i = 0; i < term.size(); ++i) {
    const std::size_t at = result.find(term[i]);
    if (at == std::string_view::npos || std::ranges::count(term, term[i]) != 1) return std::nullopt;
    strides[at] = own[i];
  }
  return strides;
}

Result einsum(const Operands& o) {
  if (o.inputs.size() != 2 || o.at(0) == nullptr || o.at(1) == nullptr) return {};
  std::string equation = o.node.string_or("equation", "");
  std::erase(equation, ' ');
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma ||
      equation.find('.') != std::string::npos)
    return {};
  const std::string_view all = equation;
  const std::string_view a = all.substr(0, comma), b = all.substr(comma + 1, arrow - comma - 1),
                         result = all.substr(arrow + 2);
  const auto of_a = strides_of(a, *o.at(0), result), of_b = strides_of(b, *o.at(1), result);
  if (!of_a || !of_b) return {};
  Dims dims;
  for (const char letter : result) {
    const std::size_t in_a = a.find(letter), in_b = b.find(letter);
    if (std::ranges::count(result, letter) != 1 ||
        (in_a == std::string_view::npos && in_b == std::string_view::npos))
      return {};
    const std::int64_t from_a = in_a == std::string_view::npos ? -1 : o.at(0)->dims[in_a];
    const std::int64_t from_b = in_b == std::string_view::npos ? -1 : o.at(1)->dims[in_b];
    if (from_a >= 0 && from_b >= 0 && from_a != from_b) return {};
    dims.push_back(std::max(from_a, from_b));
  }
  return outer(o, std::move(dims), *of_a, *of_b);
}

constexpr Entry kEntries[] = {
    {"Einsum", einsum},
    {"MatMul", matmul},
};

}  // namespace

std::span<const Entry> product_folders() { return kEntries; }

}  // namespace sardonyx::onnx::folding

// Evaluating nodes whose inputs are small constants. One function an operator; the tables of the
// families are named in fold.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/fold/fold.h"
#include "onnx/graph/ir.h"
#include "onnx/graph/tensor.h"

namespace sardonyx::onnx::folding {

// What a folder sees: the node and the data of its inputs (null where an optional one is absent).
struct Operands {
  const Node& node;
  Weights weights;
  std::vector<const Tensor*> inputs;

  const Tensor* at(std::size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  // The largest result worth having as data.
  std::int64_t most_elements() const;
  // Elements of a shape; nothing when these are more than that or a dim is negative.
  std::optional<std::int64_t> count(const std::vector<std::int64_t>& dims) const;
};

// Nothing when the result cannot be told for certain (or not exactly as the runtime computes it).
using Result = std::optional<std::vector<Tensor>>;
using Folder = Result (*)(const Operands& operands);

struct Entry {
  std::string_view op_type;
  Folder fold;
};

std::span<const Entry> elementwise_folders();
std::span<const Entry> movement_folders();
std::span<const Entry> product_folders();
std::span<const Entry> reduction_folders();
std::span<const Entry> creation_folders();
std::span<const Entry> function_folders();
std::span<const Entry> placement_folders();
// fold_functions.cpp: MatMul of matrices, of weights alone.
Result matrix_product(const Operands& operands);

// --- helpers
using Dims = std::vector<std::int64_t>;

// Whether functions of real numbers may be computed: libraries differ in the last bit of a float64
// at times, which a float32 rounds away.
bool rounds_off(const Operands& operands);
// Row-major strides in elements.
Dims row_major(const Dims& dims);
// The shape that two shapes broadcast to; nothing when they do not.
std::optional<Dims> broadcast(const Dims& a, const Dims& b);
// Strides for reading `dims` as if it had the shape `to`: 0 where it is broadcast.
Dims broadcast_strides(const Dims& dims, const Dims& to);
// A tensor whose element i is element source(i) of `from`; `from` must be contiguous.
Tensor gathered(const Tensor& from, Dims dims, const std::vector<std::int64_t>& source);
// The elements of `from` that lie `strides` apart from number `first` on.
Tensor strided(const Tensor& from, Dims dims, std::int64_t first, const Dims& strides);
// Axes of a node, from the attribute or from input `index`; made non-negative.
std::optional<std::vector<std::int64_t>> axes_of(const Operands& operands, std::size_t index,
                                                 std::int64_t rank);
// Steps an index vector through a shape in row-major order; calls visit(linear index, indices).
template <class Visit>
void each_index(const Dims& dims, const Visit& visit) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  Dims index(dims.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, index);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace sardonyx::onnx::folding

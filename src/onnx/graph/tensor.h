// Constant data of an ONNX model: a weight's borrowed bytes or a small constant of our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "kernels/element.h"

namespace sardonyx::onnx {

// `data` is borrowed and kept alive by `owner`; it points at element 0 (strides count from there).
// Never complex: complex data is stored as a trailing pair of reals.
struct Recipe;  // onnx/graph/recipe.h

struct Tensor {
  base::DType dtype = base::DType::kUndefined;
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;  // in elements; empty means contiguous
  const std::byte* data = nullptr;    // null: the data is missing (fake weights) or has no elements
  std::shared_ptr<const void> owner;
  std::vector<std::string> strings;  // of dtype string only
  bool missing = false;              // a weight whose data is to be supplied later
  // What was done to the program's tensor since: see onnx/graph/recipe.h. What is computed of its
  // elements is computed as they are read out or written: a rewritten weight takes no memory.
  std::shared_ptr<const Recipe> recipe;

  // Whether the elements are what lies at `data`.
  bool is_materialized() const;
  // Of the elements at `data`.
  base::DType stored_dtype() const;
  std::int64_t element_count() const;
  std::int64_t byte_count() const;  // of the contiguous form
  bool contiguous() const;

  // Owned, contiguous data.
  static Tensor of_ints(std::span<const std::int64_t> values, std::vector<std::int64_t> dims);
  static Tensor of_int(std::int64_t value);  // 0-d int64
  static Tensor of_bytes(base::DType dtype, std::vector<std::int64_t> dims,
                         std::span<const std::byte> bytes);
  // `count(dims)` elements, each `value` rounded to dtype as PyTorch's full() does.
  static Tensor filled(base::DType dtype, std::vector<std::int64_t> dims, double value);
  static Tensor filled_int(base::DType dtype, std::vector<std::int64_t> dims, std::int64_t value);

  // Elements in row-major order, for constants small enough to look at. Nothing when the dtype does
  // not fit (ints of a floating tensor) or the data is missing.
  std::optional<std::vector<std::int64_t>> ints() const;  // integer and bool types
  std::optional<std::vector<double>> reals() const;       // every real type
};

using kernels::load_int;
using kernels::load_real;
using kernels::store_int;
using kernels::store_real;

// Sets element `index` of packed elements of `width` bits, under eight, in zeroed bytes.
void store_packed(std::byte* data, std::int64_t index, int width, std::uint32_t bits);

}  // namespace sardonyx::onnx

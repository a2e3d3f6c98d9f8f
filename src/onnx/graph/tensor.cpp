#include "onnx/graph/tensor.h"

#include <cstring>
#include <functional>
#include <numeric>

#include "kernels/element.h"
#include "kernels/small_float.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::onnx {
namespace {

using base::DType;

bool sub_byte(DType dtype) { return base::bit_width(dtype) > 0 && base::bit_width(dtype) < 8; }

std::uint32_t packed_bits(const Tensor& tensor, std::int64_t index) {
  const int width = base::bit_width(tensor.dtype);
  const std::int64_t bit = index * width;
  auto bits = std::to_integer<std::uint32_t>(tensor.data[bit / 8]);
  // Six bits may go on in the next byte.
  if (bit % 8 + width > 8) bits |= std::to_integer<std::uint32_t>(tensor.data[bit / 8 + 1]) << 8;
  return bits >> (bit % 8) & ((1U << width) - 1U);
}

std::int64_t packed_int(const Tensor& tensor, std::int64_t index) {
  const int width = base::bit_width(tensor.dtype);
  const auto bits = static_cast<std::int64_t>(packed_bits(tensor, index));
  const bool negative = base::is_signed(tensor.dtype) && (bits >> (width - 1)) != 0;
  return negative ? bits - (std::int64_t{1} << width) : bits;
}

// Calls visit(byte offset) for every element in row-major order.
template <typename Visit>
void for_each_element(const Tensor& tensor, Visit visit) {
  const std::int64_t count = tensor.element_count();
  const std::int64_t width = base::bit_width(tensor.stored_dtype()) / 8;
  if (tensor.contiguous()) {
    for (std::int64_t i = 0; i < count; ++i) visit(i * width);
    return;
  }
  std::vector<std::int64_t> index(tensor.dims.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(offset * width);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      offset += tensor.strides[axis];
      if (++index[axis] < tensor.dims[axis]) break;
      offset -= tensor.strides[axis] * tensor.dims[axis];
      index[axis] = 0;
    }
  }
}

Tensor allocate(DType dtype, std::vector<std::int64_t> dims, std::byte** bytes) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  const auto size = static_cast<std::size_t>(tensor.byte_count());
  std::shared_ptr<std::byte[]> data(new std::byte[size == 0 ? 1 : size]());
  *bytes = data.get();
  tensor.data = data.get();
  tensor.owner = std::move(data);
  return tensor;
}

}  // namespace

std::int64_t Tensor::element_count() const {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Tensor::byte_count() const { return base::byte_size(dtype, element_count()); }

bool Tensor::contiguous() const {
  if (strides.empty()) return true;
  std::int64_t expected = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 0) return true;
    if (dims[i] != 1 && strides[i] != expected) return element_count() == 0;
    expected *= dims[i];
  }
  return true;
}

Tensor Tensor::of_ints(std::span<const std::int64_t> values, std::vector<std::int64_t> dims) {
  std::byte* bytes = nullptr;
  Tensor tensor = allocate(DType::kInt64, std::move(dims), &bytes);
  if (!values.empty()) std::memcpy(bytes, values.data(), values.size_bytes());
  return tensor;
}

Tensor Tensor::of_int(std::int64_t value) { return of_ints({&value, 1}, {}); }

Tensor Tensor::of_bytes(DType dtype, std::vector<std::int64_t> dims,
                        std::span<const std::byte> data) {
  std::byte* bytes = nullptr;
  Tensor tensor = allocate(dtype, std::move(dims), &bytes);
  if (!data.empty()) std::memcpy(bytes, data.data(), data.size());
  return tensor;
}

void store_packed(std::byte* data, std::int64_t index, int width, std::uint32_t bits) {
  const std::int64_t bit = index * width;
  const std::uint32_t low = (bits & ((1U << width) - 1U)) << (bit % 8);
  data[bit / 8] |= static_cast<std::byte>(low);
  if (bit % 8 + width > 8) data[bit / 8 + 1] |= static_cast<std::byte>(low >> 8);
}

Tensor Tensor::filled(DType dtype, std::vector<std::int64_t> dims, double value) {
  if (base::is_integer(dtype) && sub_byte(dtype))
    return filled_int(dtype, std::move(dims), kernels::truncated(value));
  std::byte* bytes = nullptr;
  Tensor tensor = allocate(dtype, std::move(dims), &bytes);
  const int bits = base::bit_width(dtype);
  if (sub_byte(dtype)) {
    const std::uint32_t low = kernels::encode_small_float(dtype, static_cast<float>(value));
    for (std::int64_t i = 0; i < tensor.element_count(); ++i) store_packed(bytes, i, bits, low);
    return tensor;
  }
  for (std::int64_t i = 0; bits > 0 && i < tensor.element_count(); ++i)
    store_real(dtype, value, bytes + i * (bits / 8));
  return tensor;
}

Tensor Tensor::filled_int(DType dtype, std::vector<std::int64_t> dims, std::int64_t value) {
  std::byte* bytes = nullptr;
  Tensor tensor = allocate(dtype, std::move(dims), &bytes);
  const int bits = base::bit_width(dtype);
  if (sub_byte(dtype)) {
    const auto low = static_cast<std::uint32_t>(value) & ((1U << bits) - 1U);
    for (std::int64_t i = 0; i < tensor.element_count(); ++i) store_packed(bytes, i, bits, low);
    return tensor;
  }
  for (std::int64_t i = 0; i < tensor.element_count(); ++i)
    store_int(dtype, value, bytes + i * (bits / 8));
  return tensor;
}

std::optional<std::vector<std::int64_t>> Tensor::ints() const {
  const std::int64_t count = element_count();
  if (!base::is_integer(dtype) && dtype != DType::kBool) return std::nullopt;
  if (data == nullptr && count > 0) return std::nullopt;
  if (derivation_of(*this) != nullptr) return computed(*this).ints();
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(count));
  if (sub_byte(dtype)) {
    for (std::int64_t i = 0; i < count; ++i) values.push_back(packed_int(*this, i));
    return values;
  }
  if (!is_materialized()) {
    const std::vector<double> computed = reals().value();
    for (const double value : computed) values.push_back(static_cast<std::int64_t>(value));
    return values;
  }
  for_each_element(*this, [&](std::int64_t at) { values.push_back(load_int(dtype, data + at)); });
  return values;
}

std::optional<std::vector<double>> Tensor::reals() const {
  const std::int64_t count = element_count();
  if (base::bit_width(dtype) == 0 || base::is_complex(dtype)) return std::nullopt;
  if (data == nullptr && count > 0) return std::nullopt;
  if (derivation_of(*this) != nullptr) return computed(*this).reals();
  if (count > 0 && element_source_of(*this) != nullptr) return in_memory(*this).reals();
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  if (sub_byte(dtype) && is_materialized()) {
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(base::is_floating(dtype)
                           ? kernels::decode_small_float(dtype, packed_bits(*this, i))
                           : static_cast<double>(packed_int(*this, i)));
    return values;
  }
  const DType stored = stored_dtype();
  for_each_element(*this, [&](std::int64_t at) { values.push_back(load_real(stored, data + at)); });
  if (!is_materialized()) compute(*this, 0, values);
  return values;
}

}  // namespace sardonyx::onnx

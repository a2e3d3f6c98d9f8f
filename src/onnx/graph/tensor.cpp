#include "onnx/graph/tensor.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "onnx/graph/recipe.h"
#include "onnx/graph/small_float.h"

namespace sardonyx::onnx {
namespace {

using base::DType;

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void store(T value, std::byte* at) {
  std::memcpy(at, &value, sizeof(T));
}

bool sub_byte(DType dtype) { return base::bit_width(dtype) > 0 && base::bit_width(dtype) < 8; }

std::uint32_t packed_bits(const Tensor& tensor, std::int64_t index) {
  const int width = base::bit_width(tensor.dtype);
  const std::int64_t bit = index * width;
  const auto byte = std::to_integer<std::uint32_t>(tensor.data[bit / 8]);
  return byte >> (bit % 8) & ((1U << width) - 1U);
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

// Past the range of int64 the conversion is undefined in C++; PyTorch gives what x86 gives.
std::int64_t truncated(double value) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0))
    return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
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

Tensor Tensor::filled(DType dtype, std::vector<std::int64_t> dims, double value) {
  if (base::is_integer(dtype) && sub_byte(dtype))
    return filled_int(dtype, std::move(dims), truncated(value));
  std::byte* bytes = nullptr;
  Tensor tensor = allocate(dtype, std::move(dims), &bytes);
  const std::int64_t width = base::bit_width(dtype) / 8;
  for (std::int64_t i = 0; width > 0 && i < tensor.element_count(); ++i)
    store_real(dtype, value, bytes + i * width);
  return tensor;
}

Tensor Tensor::filled_int(DType dtype, std::vector<std::int64_t> dims, std::int64_t value) {
  std::byte* bytes = nullptr;
  Tensor tensor = allocate(dtype, std::move(dims), &bytes);
  const int bits = base::bit_width(dtype);
  if (sub_byte(dtype)) {
    const auto low = static_cast<std::uint32_t>(value) & ((1U << bits) - 1U);
    for (std::int64_t i = 0; i < tensor.element_count(); ++i)
      bytes[i * bits / 8] |= static_cast<std::byte>(low << (i * bits % 8));
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
  if (!as_it_lies()) {
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
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  if (sub_byte(dtype) && as_it_lies()) {
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(base::is_floating(dtype) ? decode_small_float(dtype, packed_bits(*this, i))
                                                : static_cast<double>(packed_int(*this, i)));
    return values;
  }
  const DType stored = stored_dtype();
  for_each_element(*this, [&](std::int64_t at) { values.push_back(load_real(stored, data + at)); });
  if (!as_it_lies()) compute(*this, 0, values);
  return values;
}

double load_real(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kFloat32:
      return load<float>(at);
    case DType::kFloat64:
      return load<double>(at);
    case DType::kFloat16:
    case DType::kBFloat16:
      return decode_small_float(dtype, load<std::uint16_t>(at));
    case DType::kUInt64:
      return static_cast<double>(load<std::uint64_t>(at));
    default:
      if (base::is_floating(dtype)) return decode_small_float(dtype, load<std::uint8_t>(at));
      return static_cast<double>(load_int(dtype, at));
  }
}

void store_real(DType dtype, double value, std::byte* at) {
  switch (dtype) {
    case DType::kFloat32:
      return store(static_cast<float>(value), at);
    case DType::kFloat64:
      return store(value, at);
    case DType::kFloat16:
    case DType::kBFloat16:
      // PyTorch too goes through float.
      return store(static_cast<std::uint16_t>(encode_small_float(dtype, static_cast<float>(value))),
                   at);
    case DType::kComplex64:
      return store(std::complex<float>(static_cast<float>(value)), at);
    case DType::kComplex128:
      return store(std::complex<double>(value), at);
    case DType::kBool:
      return store(static_cast<std::uint8_t>(value != 0.0), at);
    case DType::kUInt64:
      return store(value >= 9223372036854775808.0 ? static_cast<std::uint64_t>(value)
                                                  : static_cast<std::uint64_t>(truncated(value)),
                   at);
    default:
      if (base::is_floating(dtype))
        return store(
            static_cast<std::uint8_t>(encode_small_float(dtype, static_cast<float>(value))), at);
      return store_int(dtype, truncated(value), at);
  }
}

std::int64_t load_int(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kInt64:
      return load<std::int64_t>(at);
    case DType::kInt32:
      return load<std::int32_t>(at);
    case DType::kInt16:
      return load<std::int16_t>(at);
    case DType::kInt8:
      return load<std::int8_t>(at);
    case DType::kUInt64:
      return static_cast<std::int64_t>(load<std::uint64_t>(at));
    case DType::kUInt32:
      return load<std::uint32_t>(at);
    case DType::kUInt16:
      return load<std::uint16_t>(at);
    case DType::kBool:
      return load<std::uint8_t>(at) != 0 ? 1 : 0;
    default:
      return load<std::uint8_t>(at);
  }
}

void store_int(DType dtype, std::int64_t value, std::byte* at) {
  switch (dtype) {
    case DType::kInt64:
    case DType::kUInt64:
      return store(value, at);
    case DType::kInt32:
    case DType::kUInt32:
      return store(static_cast<std::uint32_t>(value), at);
    case DType::kInt16:
    case DType::kUInt16:
      return store(static_cast<std::uint16_t>(value), at);
    case DType::kBool:
      return store(static_cast<std::uint8_t>(value != 0), at);
    case DType::kInt8:
    case DType::kUInt8:
      return store(static_cast<std::uint8_t>(value), at);
    default:
      // Of the smaller integers nothing is left but a byte for each.
      if (base::is_integer(dtype)) return store(static_cast<std::uint8_t>(value), at);
      return store_real(dtype, static_cast<double>(value), at);
  }
}

}  // namespace sardonyx::onnx

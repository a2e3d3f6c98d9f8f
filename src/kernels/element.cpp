#include "kernels/element.h"

#include <complex>
#include <cstring>
#include <limits>

#include "kernels/small_float.h"

namespace sardonyx::kernels {
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

}  // namespace

std::int64_t truncated(double value) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0))
    return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
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

}  // namespace sardonyx::kernels

// Element types of tensors, shared by PyTorch programs and ONNX models.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sardonyx::base {

// The numbers are those of ONNX's TensorProto.DataType, because that is what files hold.
enum class DType : std::uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
  kFloat6E2M3 = 27,
  kFloat6E3M2 = 28,
};
inline constexpr DType kLastDType = DType::kFloat6E3M2;

// "float32", "int64", "bool", ...: PyTorch's names.
std::string_view dtype_name(DType dtype);
// The inverse of dtype_name; also takes PyTorch's "torch." prefix and its short spellings
// ("float", "double", "half", "long", "int", ...).
std::optional<DType> dtype_from_name(std::string_view name);

// Bits an element takes in a file; 0 for strings and undefined.
int bit_width(DType dtype);
// Bytes that `count` elements take, rounded up for types under 8 bits; the largest number where it
// is beyond 64 bits.
std::int64_t byte_size(DType dtype, std::int64_t count);

bool is_floating(
    DType dtype);  // float16, bfloat16, float32, float64, every float8, float6 and float4
bool is_complex(DType dtype);
bool is_integer(DType dtype);  // signed and unsigned; bool is not an integer
bool is_signed(DType dtype);   // signed integers, floating and complex types
bool is_unsigned(DType dtype);

// complex64 -> float32, complex128 -> float64; any other type is returned as it is.
DType real_of(DType dtype);
// float16/float32 -> complex64, float64 -> complex128.
DType complex_of(DType dtype);

// The common type of two tensor types as torch.promote_types gives it.
DType promote(DType a, DType b);

// Smallest and largest value of an integer type, as int64 (uint64's largest is clamped to int64's).
std::int64_t integer_min(DType dtype);
std::int64_t integer_max(DType dtype);

}  // namespace sardonyx::base

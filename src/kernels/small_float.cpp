#include "kernels/small_float.h"

#include <cmath>
#include <limits>

namespace sardonyx::kernels {
namespace {

using base::DType;

// What the top of the range means.
enum class Special : std::uint8_t {
  kIeee,          // the top exponent holds infinity and NaNs
  kTopNan,        // only all ones is NaN ("fn")
  kNegativeZero,  // only the pattern of minus zero is NaN ("fnuz")
  kNone,          // every pattern is a number
};

struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Special special;
};

constexpr Format format_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {5, 10, 15, Special::kIeee};
    case DType::kBFloat16:
      return {8, 7, 127, Special::kIeee};
    case DType::kFloat8E4M3FN:
      return {4, 3, 7, Special::kTopNan};
    case DType::kFloat8E4M3FNUZ:
      return {4, 3, 8, Special::kNegativeZero};
    case DType::kFloat8E5M2:
      return {5, 2, 15, Special::kIeee};
    case DType::kFloat8E5M2FNUZ:
      return {5, 2, 16, Special::kNegativeZero};
    case DType::kFloat6E2M3:
      return {2, 3, 1, Special::kNone};
    case DType::kFloat6E3M2:
      return {3, 2, 3, Special::kNone};
    default:
      return {2, 1, 1, Special::kNone};  // float4e2m1
  }
}

// float8e8m0 is a power of two without sign: 2^(bits - 127), 255 is NaN.
float decode_e8m0(std::uint32_t bits) {
  return bits == 255 ? std::numeric_limits<float>::quiet_NaN()
                     : std::ldexp(1.0F, static_cast<int>(bits) - 127);
}

std::uint32_t encode_e8m0(float value) {
  if (!(std::abs(value) <= std::numeric_limits<float>::max())) return 255;
  int exponent = 0;
  const float mantissa = std::frexp(std::abs(value), &exponent);  // in [0.5, 1)
  if (mantissa == 0.0F) return 0;
  // Ties between 2^k and 2^(k+1) lie at 1.5 * 2^k and go up, as PyTorch rounds.
  const int power = mantissa >= 0.75F ? exponent : exponent - 1;
  return static_cast<std::uint32_t>(std::min(std::max(power + 127, 0), 254));
}

std::uint32_t nan_bits(const Format& f, std::uint32_t sign) {
  const std::uint32_t exponent = (1U << f.exponent_bits) - 1U;
  const std::uint32_t mantissa = (1U << f.mantissa_bits) - 1U;
  switch (f.special) {
    case Special::kIeee:
      return sign | exponent << f.mantissa_bits | 1U << (f.mantissa_bits - 1);
    case Special::kTopNan:
      return sign | exponent << f.mantissa_bits | mantissa;
    case Special::kNegativeZero:
      return 1U << (f.exponent_bits + f.mantissa_bits);
    case Special::kNone:
      return 0;
  }
  return 0;
}

// The pattern above the largest finite one, where the type has infinities it is that of infinity.
std::uint32_t overflow_bits(const Format& f, std::uint32_t sign) {
  const std::uint32_t exponent = (1U << f.exponent_bits) - 1U;
  if (f.special == Special::kIeee) return sign | exponent << f.mantissa_bits;
  if (f.special == Special::kNone) return sign | ((1U << (f.exponent_bits + f.mantissa_bits)) - 1U);
  return nan_bits(f, sign);
}

std::uint32_t largest_bits(const Format& f) {
  const std::uint32_t all = (1U << (f.exponent_bits + f.mantissa_bits)) - 1U;
  if (f.special == Special::kIeee) return (((1U << f.exponent_bits) - 1U) << f.mantissa_bits) - 1U;
  return f.special == Special::kTopNan ? all - 1U : all;
}

}  // namespace

float decode_small_float(DType dtype, std::uint32_t bits) {
  if (dtype == DType::kFloat8E8M0) return decode_e8m0(bits);
  const Format f = format_of(dtype);
  const std::uint32_t sign_bit = 1U << (f.exponent_bits + f.mantissa_bits);
  const float sign = (bits & sign_bit) != 0 ? -1.0F : 1.0F;
  const std::uint32_t exponent = (bits >> f.mantissa_bits) & ((1U << f.exponent_bits) - 1U);
  const std::uint32_t mantissa = bits & ((1U << f.mantissa_bits) - 1U);
  const bool top = exponent == (1U << f.exponent_bits) - 1U;
  if (f.special == Special::kIeee && top)
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  if (f.special == Special::kTopNan && (bits & ~sign_bit) == sign_bit - 1U)
    return std::numeric_limits<float>::quiet_NaN();
  if (f.special == Special::kNegativeZero && bits == sign_bit)
    return std::numeric_limits<float>::quiet_NaN();
  const std::uint32_t hidden = exponent == 0 ? 0 : 1U << f.mantissa_bits;
  const int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - f.bias - f.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(hidden | mantissa), power);
}

std::uint32_t encode_small_float(DType dtype, float value) {
  if (dtype == DType::kFloat8E8M0) return encode_e8m0(value);
  const Format f = format_of(dtype);
  const std::uint32_t sign_bit = 1U << (f.exponent_bits + f.mantissa_bits);
  const std::uint32_t sign = std::signbit(value) ? sign_bit : 0;
  if (std::isnan(value)) return nan_bits(f, sign);
  const float magnitude = std::abs(value);
  if (std::isinf(magnitude)) return overflow_bits(f, sign);
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  const int lowest = 1 - f.bias;     // of normal numbers
  const int power = std::max(exponent - 1, lowest) - f.mantissa_bits;
  // Exact: a float scaled by a power of two; nearbyint rounds ties to even.
  const double units = std::nearbyint(std::ldexp(static_cast<double>(magnitude), -power));
  auto pattern = static_cast<std::uint32_t>(units);
  if (pattern != 0 && power > lowest - f.mantissa_bits)
    pattern += static_cast<std::uint32_t>(power - (lowest - f.mantissa_bits)) << f.mantissa_bits;
  if (pattern > largest_bits(f)) return overflow_bits(f, sign);
  if (pattern == 0 && f.special == Special::kNegativeZero) return 0;
  return sign | pattern;
}

}  // namespace sardonyx::kernels

#include "kernels/cast.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/element.h"
#include "kernels/targets.h"

namespace sardonyx::kernels {
namespace {

using base::DType;

constexpr std::array kAll = {DType::kFloat32,        DType::kFloat64,        DType::kFloat16,
                             DType::kBFloat16,       DType::kFloat8E4M3FN,   DType::kFloat8E5M2,
                             DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2FNUZ, DType::kFloat8E8M0,
                             DType::kInt8,           DType::kUInt8,          DType::kInt16,
                             DType::kUInt16,         DType::kInt32,          DType::kUInt32,
                             DType::kInt64,          DType::kUInt64,         DType::kBool};

// Of float16 and bfloat16, and of the upper halves of float32 and float64: zero, the numbers below
// the normal ones, the largest ones, infinities and NaNs.
constexpr std::array kEdges = {0x0000U, 0x0001U, 0x007fU, 0x0080U, 0x03ffU, 0x0400U, 0x38ffU,
                               0x4780U, 0x7bffU, 0x7c00U, 0x7c01U, 0x7e00U, 0x7f7fU, 0x7f80U,
                               0x7f81U, 0x7fefU, 0x7ff0U, 0x7ff1U, 0x7fffU, 0x8000U, 0x8001U,
                               0xfbffU, 0xfc00U, 0xfe00U, 0xff7fU, 0xff80U, 0xff81U, 0xffffU};

std::size_t width_of(DType dtype) { return static_cast<std::size_t>(base::bit_width(dtype)) / 8; }

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// Sanitizers make each element many times as slow: every kind of number stays, with fewer of each.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint32_t kStep = 61;  // odd, so that the lowest bits vary, too
constexpr int kRandom = 2'000;
#else
constexpr std::uint32_t kStep = 1;
constexpr int kRandom = 100'000;
#endif

void append_floats(std::vector<std::byte>& bytes, std::uint32_t high) {
  for (const std::uint32_t low : {0x0000U, 0x0001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU})
    append(bytes, high << 16 | low);
}
void append_doubles(std::vector<std::byte>& bytes, std::uint32_t high) {
  for (const std::uint64_t low : {0x0U, 0x1U, 0x10000000U, 0x10000001U})
    append(bytes, std::uint64_t{high} << 48 | low);
}

// What can go wrong in float32: both sides of every tie and limit of the narrower types, numbers
// below the normal ones, infinities, NaNs with and without a payload; and any numbers.
std::vector<std::byte> floats() {
  std::vector<std::byte> bytes;
  for (std::uint32_t high = 0; high < 1U << 16; high += kStep) append_floats(bytes, high);
  for (const std::uint32_t high : kEdges) append_floats(bytes, high);
  for (std::uint32_t exponent = 100; exponent < 145; ++exponent)
    for (std::uint32_t mantissa = 0; mantissa < 1U << 11; mantissa += kStep)
      for (const std::uint32_t low : {0x000U, 0x001U, 0xfffU})
        append(bytes, exponent << 23 | mantissa << 12 | low);
  std::mt19937 random(7);
  for (int i = 0; i < kRandom; ++i) append(bytes, static_cast<std::uint32_t>(random()));
  return bytes;
}

std::vector<std::byte> doubles() {
  std::vector<std::byte> bytes;
  for (std::uint32_t high = 0; high < 1U << 16; high += kStep) append_doubles(bytes, high);
  for (const std::uint32_t high : kEdges) append_doubles(bytes, high);
  for (const double value : {65519.9, 65520.0, 1e300, -1e300, 1e-320, 2147483648.5, -129.0,
                             9223372036854775808.0, 18446744073709551615.0})
    append(bytes, value);
  return bytes;
}

// All patterns of the types that have few, and others at random.
std::vector<std::byte> samples(DType dtype) {
  if (dtype == DType::kFloat32) return floats();
  if (dtype == DType::kFloat64) return doubles();
  std::vector<std::byte> bytes;
  for (std::uint32_t bits = 0; bits < 1U << 16; bits += kStep)
    append(bytes, static_cast<std::uint16_t>(bits));
  for (const std::uint32_t bits : kEdges) append(bytes, static_cast<std::uint16_t>(bits));
  std::mt19937_64 random(7);
  for (int i = 0; i < kRandom / 10; ++i) append(bytes, random());
  append(bytes, std::numeric_limits<std::int64_t>::min());
  return bytes;
}

std::vector<std::byte> by_elements(DType from, const std::vector<std::byte>& bytes, DType to) {
  const std::size_t count = bytes.size() / width_of(from);
  std::vector<std::byte> result(count * width_of(to));
  for (std::size_t i = 0; i < count; ++i)
    store_real(to, load_real(from, bytes.data() + i * width_of(from)),
               result.data() + i * width_of(to));
  return result;
}

// Exhaustive where a type has few patterns.
TEST(Cast, GivesTheBytesOfSingleElementsOnEveryTarget) {
  for (const DType from : kAll) {
    const std::vector<std::byte> bytes = samples(from);
    const std::size_t count = bytes.size() / width_of(from);
    for (const DType to : kAll) {
      if (from == to && !base::is_floating(from)) continue;
      const std::vector<std::byte> expected = by_elements(from, bytes, to);
      for_each_target([&](const char* target) {
        std::vector<std::byte> result(expected.size());
        cast(from, bytes.data(), to, result.data(), count);
        const auto [at, other] = std::ranges::mismatch(result, expected);
        EXPECT_TRUE(at == result.end())
            << target << ": " << base::dtype_name(from) << " to " << base::dtype_name(to)
            << " differs at element "
            << static_cast<std::size_t>(at - result.begin()) / width_of(to);
      });
    }
  }
}

// Every length up to some vectors, from bytes that lie unaligned.
TEST(Cast, WritesNothingBehindTheLastElement) {
  std::vector<std::byte> bytes(1 + 100 * 8, std::byte{0x31});
  for_each_target([&](const char* target) {
    for (const DType from : {DType::kFloat16, DType::kFloat32, DType::kFloat8E5M2})
      for (const DType to : {DType::kBFloat16, DType::kFloat32, DType::kFloat8E4M3FN})
        for (std::size_t count = 0; count < 100; ++count) {
          std::vector<std::byte> result(2 + count * width_of(to), std::byte{0x77});
          cast(from, bytes.data() + 1, to, result.data() + 1, count);
          ASSERT_EQ(result.front(), std::byte{0x77}) << target;
          ASSERT_EQ(result.back(), std::byte{0x77}) << target;
        }
  });
}

TEST(Cast, FloatsAndDoublesAreWhatLies) {
  const std::vector<std::byte> bytes = samples(DType::kFloat16);
  const std::size_t count = bytes.size() / 2;
  std::vector<float> values(count);
  std::vector<double> wide(count);
  to_floats(DType::kFloat16, bytes.data(), values);
  to_doubles(DType::kFloat16, bytes.data(), wide);
  std::vector<std::byte> narrowed(count * 2), again(count * 2);
  from_floats(DType::kFloat16, values, narrowed.data());
  from_doubles(DType::kFloat16, wide, again.data());
  EXPECT_EQ(narrowed, again);
  EXPECT_TRUE(is_exact_in_float(DType::kInt16));
  EXPECT_FALSE(is_exact_in_float(DType::kInt32));
  EXPECT_FALSE(is_exact_in_float(DType::kFloat64));
}

}  // namespace
}  // namespace sardonyx::kernels

#include "kernels/block_quantizer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/targets.h"

namespace sardonyx::kernels {
namespace {

std::vector<float> some_weights(std::size_t count) {
  std::vector<float> weights;
  for (std::size_t i = 0; i < count; ++i)
    weights.push_back(static_cast<float>(std::sin(static_cast<double>(i * i) * 0.7)));
  return weights;
}

struct Coded {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;
  std::vector<std::uint8_t> zero_points;
  CodingError error;
};

Coded coded(const std::vector<float>& weights, std::int64_t rows, const BlockForm& form) {
  const auto columns = static_cast<std::int64_t>(weights.size()) / rows;
  Coded result;
  result.codes.resize(weights.size());
  result.scales.resize(static_cast<std::size_t>(rows * ((columns + form.size - 1) / form.size)));
  result.zero_points.resize(result.scales.size());
  result.error = code_blocks(weights.data(), rows, columns, form, result.codes.data(),
                             result.scales.data(), result.zero_points.data());
  return result;
}

TEST(BlockQuantizer, TheExtremeGetsTheLowestCode) {
  std::vector<float> weights(32, 0.0F);
  weights[3] = 4.0F;
  weights[4] = -3.5F;
  const Coded result = coded(weights, 1, {.search = false});
  EXPECT_EQ(result.scales[0], -0.5F);
  EXPECT_EQ(result.zero_points[0], 8);
  EXPECT_EQ(result.codes[3], 0);
  EXPECT_EQ(result.codes[4], 15);
  EXPECT_EQ(result.codes[0], 8);
  EXPECT_EQ(result.error.squares, 0);
}

TEST(BlockQuantizer, ZeroPointsMoveTheRange) {
  std::vector<float> weights(32);
  for (std::size_t i = 0; i < 32; ++i) weights[i] = static_cast<float>(i % 16) - 3.0F;
  const Coded result = coded(weights, 1, {.symmetric = false, .search = false});
  EXPECT_EQ(result.scales[0], 1.0F);
  EXPECT_EQ(result.zero_points[0], 3);
  EXPECT_EQ(result.error.squares, 0);
}

// Codes of an earlier coder, without their extremes, so that rounding to nearest finds other steps.
TEST(BlockQuantizer, WeightsThatWereCodedBeforeKeepTheirCodes) {
  for (const bool symmetric : {true, false}) {
    const int zero = symmetric ? 8 : 3;
    std::vector<float> weights(128);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = 0.0123F * static_cast<float>(static_cast<int>(i * 7 % 11) + 2 - zero);
    const Coded result = coded(weights, 1, {.size = 128, .symmetric = symmetric});
    EXPECT_EQ(result.error.squares, 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const int code = static_cast<int>(result.codes[i]) - result.zero_points[0];
      EXPECT_EQ(static_cast<float>(code) * result.scales[0], weights[i]);
    }
    EXPECT_GT(
        coded(weights, 1, {.size = 128, .symmetric = symmetric, .search = false}).error.squares, 0);
  }
}

TEST(BlockQuantizer, SearchingIsNeverWorse) {
  const std::vector<float> weights = some_weights(4096);
  for (const int bits : {4, 8})
    for (const bool symmetric : {true, false})
      for (const std::int64_t size : {16, 32, 128}) {
        BlockForm form{.bits = bits, .size = size, .symmetric = symmetric, .search = false};
        const double nearest = coded(weights, 4, form).error.squares;
        form.search = true;
        EXPECT_LE(coded(weights, 4, form).error.squares, nearest * 1.0001) << bits << ' ' << size;
      }
}

TEST(BlockQuantizer, TheLastBlockMayBeShort) {
  const std::vector<float> weights = some_weights(3 * 40);
  const BlockForm form{.bits = 8};
  const Coded result = coded(weights, 3, form);
  ASSERT_EQ(result.scales.size(), 6U);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t block = i / 40 * 2 + i % 40 / 32;
    const float held = result.scales[block] *
                       static_cast<float>(int{result.codes[i]} - int{result.zero_points[block]});
    EXPECT_NEAR(held, weights[i], 0.005);
  }
}

TEST(BlockQuantizer, NoNumberIsToldAsSuch) {
  std::vector<float> weights = some_weights(64);
  weights[40] = std::numeric_limits<float>::infinity();
  const Coded result = coded(weights, 1, {});
  EXPECT_FALSE(std::isnan(result.scales[0]));
  EXPECT_TRUE(std::isnan(result.scales[1]));
  EXPECT_TRUE(std::isnan(result.error.relative()));
}

TEST(BlockQuantizer, ZerosStayZeros) {
  const Coded result = coded(std::vector<float>(64, 0.0F), 1, {});
  EXPECT_EQ(result.error.relative(), 0);
  EXPECT_EQ(result.codes[0], 8);
}

TEST(BlockQuantizer, PacksAnyCountOfCodes) {
  std::vector<std::uint8_t> codes(101);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i * 7 % 16);
  std::vector<std::byte> expected(51);
  for (std::size_t i = 0; i < codes.size(); ++i)
    expected[i / 2] |= static_cast<std::byte>((codes[i] ^ 8U) << (i % 2 * 4));
  for_each_target([&](const char* target) {
    std::vector<std::byte> packed(51);
    EXPECT_EQ(pack_codes(codes, 4, 8, packed.data()), packed.data() + 51);
    EXPECT_EQ(packed, expected) << target;
  });
}

// Codes, scales and the measured error, to the last bit.
TEST(BlockQuantizer, GivesTheSameOnEveryTarget) {
  std::vector<float> weights = some_weights(3 * 300);
  weights[700] = std::numeric_limits<float>::quiet_NaN();
  for (int i = 100; i < 140; ++i)
    weights[static_cast<std::size_t>(i)] = 0.0123F * static_cast<float>(i % 7);
  for (int i = 320; i < 360; ++i) weights[static_cast<std::size_t>(i)] = i % 2 == 0 ? 0.0F : -0.0F;
  for (const int bits : {4, 8})
    for (const bool symmetric : {true, false})
      for (const bool search : {true, false}) {
        const BlockForm form{
            .bits = bits, .symmetric = symmetric, .search = search, .scale = base::DType::kFloat16};
        const std::vector<float> numbers(weights.begin(), weights.begin() + 600);
        const Coded expected = coded(weights, 3, form);
        const double squares = coded(numbers, 2, form).error.squares;
        for_each_target([&](const char* target) {
          const Coded found = coded(weights, 3, form);
          EXPECT_EQ(found.codes, expected.codes) << target;
          EXPECT_EQ(found.zero_points, expected.zero_points) << target;
          EXPECT_EQ(std::memcmp(found.scales.data(), expected.scales.data(),
                                expected.scales.size() * sizeof(float)),
                    0)
              << target;
          EXPECT_EQ(coded(numbers, 2, form).error.squares, squares) << target;
        });
      }
}

}  // namespace
}  // namespace sardonyx::kernels

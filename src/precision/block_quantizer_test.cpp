#include "precision/block_quantizer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace sardonyx::precision {
namespace {

std::vector<float> some_weights(std::size_t count) {
  std::vector<float> weights;
  for (std::size_t i = 0; i < count; ++i)
    weights.push_back(static_cast<float>(std::sin(static_cast<double>(i * i) * 0.7)));
  return weights;
}

struct Coded {
  std::vector<std::uint8_t> codes;
  std::vector<BlockScale> scales;
  CodingError error;
};

Coded coded(const std::vector<float>& weights, std::int64_t rows, const BlockForm& form) {
  const auto columns = static_cast<std::int64_t>(weights.size()) / rows;
  Coded result;
  result.codes.resize(weights.size());
  result.scales.resize(static_cast<std::size_t>(rows * ((columns + form.size - 1) / form.size)));
  result.error =
      code_blocks(weights.data(), rows, columns, form, result.codes.data(), result.scales.data());
  return result;
}

TEST(BlockCodes, TheExtremeGetsTheLowestCode) {
  std::vector<float> weights(32, 0.0F);
  weights[3] = 4.0F;
  weights[4] = -3.5F;
  const Coded result = coded(weights, 1, {.search = false});
  EXPECT_EQ(result.scales[0].scale, -0.5F);
  EXPECT_EQ(result.scales[0].zero_point, 8);
  EXPECT_EQ(result.codes[3], 0);
  EXPECT_EQ(result.codes[4], 15);
  EXPECT_EQ(result.codes[0], 8);
  EXPECT_EQ(result.error.squares, 0);
}

TEST(BlockCodes, ZeroPointsMoveTheRange) {
  std::vector<float> weights(32);
  for (std::size_t i = 0; i < 32; ++i) weights[i] = static_cast<float>(i % 16) - 3.0F;
  const Coded result = coded(weights, 1, {.symmetric = false, .search = false});
  EXPECT_EQ(result.scales[0].scale, 1.0F);
  EXPECT_EQ(result.scales[0].zero_point, 3);
  EXPECT_EQ(result.error.squares, 0);
}

// Codes of an earlier coder, without their extremes, so that rounding to nearest finds other steps.
TEST(BlockCodes, WeightsThatWereCodedBeforeKeepTheirCodes) {
  for (const bool symmetric : {true, false}) {
    const int zero = symmetric ? 8 : 3;
    std::vector<float> weights(128);
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = 0.0123F * static_cast<float>(static_cast<int>(i * 7 % 11) + 2 - zero);
    const Coded result = coded(weights, 1, {.size = 128, .symmetric = symmetric});
    EXPECT_EQ(result.error.squares, 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const int code = static_cast<int>(result.codes[i]) - result.scales[0].zero_point;
      EXPECT_EQ(static_cast<float>(code) * result.scales[0].scale, weights[i]);
    }
    EXPECT_GT(
        coded(weights, 1, {.size = 128, .symmetric = symmetric, .search = false}).error.squares, 0);
  }
}

TEST(BlockCodes, SearchingIsNeverWorse) {
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

TEST(BlockCodes, TheLastBlockMayBeShort) {
  const std::vector<float> weights = some_weights(3 * 40);
  const BlockForm form{.bits = 8};
  const Coded result = coded(weights, 3, form);
  ASSERT_EQ(result.scales.size(), 6U);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const BlockScale& by = result.scales[i / 40 * 2 + i % 40 / 32];
    const float held = by.scale * (static_cast<float>(result.codes[i]) - by.zero_point);
    EXPECT_NEAR(held, weights[i], 0.005);
  }
}

TEST(BlockCodes, NoNumberIsToldAsSuch) {
  std::vector<float> weights = some_weights(64);
  weights[40] = std::numeric_limits<float>::infinity();
  const Coded result = coded(weights, 1, {});
  EXPECT_FALSE(std::isnan(result.scales[0].scale));
  EXPECT_TRUE(std::isnan(result.scales[1].scale));
  EXPECT_TRUE(std::isnan(result.error.relative()));
}

TEST(BlockCodes, ZerosStayZeros) {
  const Coded result = coded(std::vector<float>(64, 0.0F), 1, {});
  EXPECT_EQ(result.error.relative(), 0);
  EXPECT_EQ(result.codes[0], 8);
}

}  // namespace
}  // namespace sardonyx::precision

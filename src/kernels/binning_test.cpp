#include "kernels/binning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/targets.h"

namespace sardonyx::kernels {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kLeastFloat = std::numeric_limits<float>::denorm_min();

// 3 is a first bin, so that a number less it is no number of its own.
void expect_bins(const std::vector<float>& elements, int exponent) {
  std::vector<std::int32_t> bins(elements.size());
  bins_of(elements, {exponent, 3}, 7777, bins);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double place = std::ldexp(double{elements[i]}, -exponent);
    const auto expected =
        std::isfinite(place) ? static_cast<std::int32_t>(std::floor(place)) - 3 : 7777;
    EXPECT_EQ(bins[i], expected) << elements[i] << " of 2^" << exponent;
  }
}

TEST(Binning, RoundsDownOnEveryProcessor) {
  std::vector<float> elements = {0,           -0.0F,        1, -1, 0.5F,   -0.5F,
                                 kLeastFloat, -kLeastFloat, 3, -3, 255.99F};
  for (int i = 0; i < 1000; ++i) elements.push_back(static_cast<float>(i * i % 677) / 64 - 4);
  for_each_target([&](const char*) {
    for (const int exponent : {-10, -3, 0, 5, 100, 127}) expect_bins(elements, exponent);
    expect_bins({kLeastFloat, -kLeastFloat, 0, 5 * kLeastFloat}, -149);
    expect_bins({1e-30F, -1e-30F}, -124);
    expect_bins({3e38F, -3e38F, 1e-38F, -1e-38F}, 104);
    expect_bins({kInfinite, -kInfinite, std::nanf(""), 1}, -3);
    expect_bins({}, 0);
  });
}

TEST(Binning, FindsTheExtremesOfFiniteElements) {
  std::vector<float> elements(37, 1);
  elements[3] = -2;
  elements[36] = 5;
  elements[20] = 0;
  elements[21] = -0.0F;
  elements[5] = kInfinite;
  elements[6] = -kInfinite;
  elements[7] = std::nanf("");
  for_each_target([&](const char* name) {
    const Extremes found = extremes(elements);
    EXPECT_EQ(found.low, -2) << name;
    EXPECT_EQ(found.high, 5) << name;
    EXPECT_EQ(found.finite, 34U) << name;
    EXPECT_EQ(found.zeros, 2U) << name;
    EXPECT_EQ(extremes({}).finite, 0U) << name;
  });
}

}  // namespace
}  // namespace sardonyx::kernels

#include "quantization/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "quantization/ranges.h"

namespace sardonyx::quantization {
namespace {

std::vector<float> normal(std::size_t count, float deviation) {
  std::mt19937 random(7);
  std::normal_distribution<float> numbers(0, deviation);
  std::vector<float> result(count);
  for (float& each : result) each = numbers(random);
  return result;
}

void expect_same(const Histogram& a, const Histogram& b) {
  EXPECT_EQ(a.exponent(), b.exponent());
  EXPECT_EQ(a.first(), b.first());
  EXPECT_EQ(a.counts(), b.counts());
  EXPECT_EQ(a.zeros(), b.zeros());
}

TEST(Histogram, DoesNotDependOnOrder) {
  const std::vector<float> narrow = normal(1000, 1e-3F), wide = normal(1000, 1e4F);
  const std::vector<float> special = {0, -0.0F, -1e-30F, 1e-30F, 3, -3};
  Histogram a, b, part;
  for (const auto* each : {&narrow, &wide, &special}) a.add(*each);
  part.add(special);
  part.add(narrow);
  b.add(wide);
  b.merge(part);
  expect_same(a, b);
  EXPECT_EQ(a.count(), 2006U);
  EXPECT_EQ(a.zeros(), 2U);
  EXPECT_LE(static_cast<std::int64_t>(a.counts().size()), Histogram::kMaxBins);
}

TEST(Histogram, CountsWhatIsNotFiniteApart) {
  Histogram a;
  a.add(std::vector<float>{1, std::numeric_limits<float>::infinity(), std::nanf("")});
  EXPECT_EQ(a.count(), 1U);
  EXPECT_EQ(a.not_finite(), 2U);
  EXPECT_EQ(a.max(), 1);
}

TEST(Ranges, LeastErrorLeavesOutliersOut) {
  std::vector<float> values = normal(1000000, 1);
  values.push_back(20);
  Histogram histogram;
  histogram.add(values);
  const Form form{base::DType::kUInt8};
  const Range widest = range_of(histogram, form, {Method::kMinMax});
  const Range best = range_of(histogram, form, {Method::kMse});
  EXPECT_EQ(widest.high, 20);
  EXPECT_LT(best.high, 12);
  const Parameters parameters = parameters_of(best, form);
  EXPECT_NEAR(parameters.scale * 255, best.high - best.low, 1e-4);
  EXPECT_NEAR(static_cast<double>(parameters.zero_point) * parameters.scale, -best.low,
              parameters.scale);
}

}  // namespace
}  // namespace sardonyx::quantization

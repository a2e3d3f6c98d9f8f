#include "kernels/rounding_error.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "kernels/element.h"
#include "kernels/targets.h"

namespace sardonyx::kernels {
namespace {

using base::DType;

std::vector<float> numbers() {
  std::vector<float> values;
  for (int i = 0; i < 1003; ++i)
    values.push_back(static_cast<float>(std::sin(i * 1.7) * std::pow(2.0, i % 40 - 24)));
  const float infinity = std::numeric_limits<float>::infinity();
  values.insert(values.end(), {0.0F, -0.0F, 1e9F, -7e4F, infinity, -infinity, std::nanf("")});
  return values;
}

TEST(RoundingError, IsThatOfEachNumberOnEveryTarget) {
  const std::vector<float> values = numbers();
  for (const DType half : {DType::kFloat16, DType::kBFloat16}) {
    RoundingError expected;
    for (const float value : values) {
      if (!std::isfinite(value)) continue;
      const double size = std::abs(static_cast<double>(value));
      if (size > largest_of(half)) {
        expected.add({0, 0, 0, size});
        continue;
      }
      std::array<std::byte, 2> bytes{};
      store_real(half, static_cast<double>(value), bytes.data());
      const double apart = std::abs(static_cast<double>(value) - load_real(half, bytes.data()));
      expected.add({apart * apart, size * size, apart, std::numeric_limits<double>::infinity()});
    }
    std::vector<RoundingError> found;
    for_each_target([&](const char*) { found.push_back(rounding_error(values, half)); });
    for (const RoundingError& each : found) {
      EXPECT_NEAR(each.squares, expected.squares, expected.squares * 1e-12);
      EXPECT_NEAR(each.weights, expected.weights, expected.weights * 1e-12);
      EXPECT_EQ(each.squares, found.front().squares);
      EXPECT_EQ(each.weights, found.front().weights);
      EXPECT_EQ(each.largest_difference, expected.largest_difference);
      EXPECT_EQ(each.least_beyond, expected.least_beyond);
    }
  }
}

TEST(RoundingError, NothingIsOutOfReachOfNothing) {
  const RoundingError error = rounding_error({}, DType::kFloat16);
  EXPECT_TRUE(std::isinf(error.least_beyond));
}

}  // namespace
}  // namespace sardonyx::kernels

#include "kernels/scale_error.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/targets.h"

namespace sardonyx::kernels {
namespace {

TEST(ScaleError, IsTheSameOnEveryProcessor) {
  std::vector<float> weights;
  for (int i = 0; i < 1000; ++i) weights.push_back(static_cast<float>(i * i % 677) / 64 - 4);
  const double expected = scale_error(weights, 0.05F, 127);
  EXPECT_GT(expected, 0);
  EXPECT_LT(expected, 1000 * 0.05 * 0.05 / 4);
  for_each_target(
      [&](const char* name) { EXPECT_EQ(scale_error(weights, 0.05F, 127), expected) << name; });
}

TEST(ScaleError, CountsWhatIsBeyondTheLargestCode) {
  EXPECT_EQ(scale_error(std::vector<float>{0.5F, 2, -3}, 0.5F, 2), 1 + 4);
}

}  // namespace
}  // namespace sardonyx::kernels

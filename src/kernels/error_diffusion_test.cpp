#include "kernels/error_diffusion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/targets.h"

namespace sardonyx::kernels {
namespace {

constexpr std::size_t kInputs = 45, kRows = 129, kChannels = 21;
constexpr float kScale = 0.05F;

// Samples with something in common, as activations have.
struct Case {
  std::vector<float> weights, scales, values, norms;
  Samples samples;

  Case() : weights(kChannels * kInputs), scales(kChannels, kScale), values(kInputs * kRows) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& weight : weights) weight = normal(random);
    std::vector<float> common(kRows);
    for (float& each : common) each = normal(random);
    norms.resize(kInputs);
    for (std::size_t t = 0; t < kInputs; ++t) {
      for (std::size_t row = 0; row < kRows; ++row) {
        float& value = values[row * kInputs + t];
        value = common[row] + 0.3F * normal(random);
        norms[t] += value * value;
      }
    }
    samples = {values.data(), kRows, kInputs, norms.data()};
  }

  std::vector<std::int8_t> codes() const {
    std::vector<std::int8_t> result(weights.size());
    diffuse_errors(weights, scales, samples, -127, 127, result);
    return result;
  }

  // Squares of what the codes change in the products.
  double error(const std::vector<std::int8_t>& codes) const {
    double squares = 0;
    for (std::size_t c = 0; c < kChannels; ++c) {
      for (std::size_t row = 0; row < kRows; ++row) {
        double change = 0;
        for (std::size_t t = 0; t < kInputs; ++t) {
          const std::size_t at = c * kInputs + t;
          change +=
              (weights[at] - static_cast<float>(codes[at]) * kScale) * values[row * kInputs + t];
        }
        squares += change * change;
      }
    }
    return squares;
  }
};

TEST(ErrorDiffusion, ChangesProductsLessThanRoundingToNearest) {
  const Case a;
  std::vector<std::int8_t> nearest;
  for (const float weight : a.weights)
    nearest.push_back(static_cast<std::int8_t>(std::nearbyint(weight / kScale)));
  EXPECT_LT(a.error(a.codes()), a.error(nearest) / 4);
}

TEST(ErrorDiffusion, IsTheSameOnEveryProcessor) {
  const Case a;
  const std::vector<std::int8_t> expected = a.codes();
  for_each_target([&](const char* name) { EXPECT_EQ(a.codes(), expected) << name; });
}

}  // namespace
}  // namespace sardonyx::kernels

// Rounding of weights that keeps the result of a product: what rounding one weight changes, the
// next ones make up for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sardonyx::kernels {

// Samples of the inputs of a product.
struct Samples {
  const float* values = nullptr;  // [rows, inputs]
  std::size_t rows = 0, inputs = 0;
  const float* norms = nullptr;  // of each input: the sum of the squares of its samples
};

// The codes of `channels` rows of weights, [channels, inputs], each with a scale. One weight after
// the other is rounded so that the product of the samples with all weights so far is nearest to
// that with the codes: Lybrand and Saab, "A Greedy Algorithm for Quantizing Neural Networks", 2021.
// The same on every processor.
void diffuse_errors(std::span<const float> weights, std::span<const float> scales,
                    const Samples& samples, int lowest, int highest, std::span<std::int8_t> codes);

}  // namespace sardonyx::kernels

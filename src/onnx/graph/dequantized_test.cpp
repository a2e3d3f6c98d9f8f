#include "onnx/graph/dequantized.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/parallel_for.h"
#include "onnx/graph/pieces.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::onnx {
namespace {

using base::DType;

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 generator(1);
  std::vector<std::byte> bytes(count);
  for (std::byte& each : bytes) each = static_cast<std::byte>(generator() & 0x3f);
  return bytes;
}

std::vector<std::byte> written(const Tensor& tensor) {
  std::vector<std::byte> bytes;
  put_pieces(*pieces_of(tensor), [&](std::span<const std::byte> piece, std::size_t) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return bytes;
}

Tensor in_memory_of(const ElementSource& elements, std::vector<std::int64_t> dims) {
  std::vector<float> values(static_cast<std::size_t>(elements.rows() * elements.columns()));
  elements.read({0, elements.rows(), 0, elements.columns()}, values.data(), elements.columns());
  return Tensor::of_bytes(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

// What is done to weights gives the bytes that it gives with the elements in memory.
void expect_as_in_memory(const std::shared_ptr<const ElementSource>& elements,
                         const std::vector<std::int64_t>& dims) {
  const Tensor lazy = made_on_reading(elements, dims), held = in_memory_of(*elements, dims);
  EXPECT_FALSE(lazy.is_materialized());
  EXPECT_EQ(written(lazy), written(held));
  EXPECT_EQ(lazy.reals(), held.reals());
  const auto factors = [&](const Tensor& tensor) {
    ChannelScale scale;
    for (std::int64_t i = 0; i < tensor.dims[0]; ++i)
      scale.factors.push_back(1 + static_cast<double>(i) / 3);
    scale.inner = tensor.element_count() / tensor.dims[0];
    return scale;
  };
  const auto changed = [&](const Tensor& tensor) {
    std::vector<std::int64_t> axes;
    for (std::size_t i = tensor.dims.size(); i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
    return std::array{cast_with_offset(tensor, DType::kBFloat16, 0), permuted(tensor, axes),
                      cast_with_offset(permuted(tensor, axes), DType::kFloat16, 0),
                      permuted(scaled(tensor, factors(tensor)), axes)};
  };
  const auto of_lazy = changed(lazy), of_held = changed(held);
  for (std::size_t i = 0; i < of_lazy.size(); ++i)
    EXPECT_EQ(written(of_lazy[i]), written(of_held[i])) << i;
  if (dims.size() == 3) return expect_as_in_memory(elements, {dims[0] * dims[1], dims[2]});
  const Tensor turned = of_lazy[1];
  std::vector<float> part(70), expected(70);
  MatrixReader(turned).read(3, 7, 5, 10, DType::kFloat32, reinterpret_cast<std::byte*>(part.data()),
                            10);
  MatrixReader(of_held[1])
      .read(3, 7, 5, 10, DType::kFloat32, reinterpret_cast<std::byte*>(expected.data()), 10);
  EXPECT_EQ(part, expected);
}

TEST(Dequantized, BlocksAreWhatTheyAreInMemory) {
  for (const auto* const name : {"Q4_0", "Q6_K"}) {
    const kernels::GgmlBlock& block = *kernels::ggml_block(std::string_view(name));
    const auto bytes =
        random_bytes(static_cast<std::size_t>(300 * 512 / block.elements * block.bytes));
    expect_as_in_memory(dequantized(block, bytes, 512, {}), {300, 512});
  }
}

TEST(Dequantized, CodesAreWhatTheyAreInMemory) {
  for (const std::int64_t matrices : {1, 3}) {
    const std::int64_t rows = 96, columns = 1200;
    const auto words = random_bytes(static_cast<std::size_t>(rows * columns / 2));
    std::vector<float> scales(static_cast<std::size_t>(rows / 8 * 4));
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = 0.3F * static_cast<float>(i + 1);
    kernels::CodeMatrix codes{words.data(), rows, columns};
    codes.bits = 4;
    codes.order = {0, 1};
    const kernels::GroupScales groups{scales.data(), nullptr, nullptr, rows / 8, 4, {8}, {300}};
    ASSERT_TRUE(is_valid(codes) && is_valid(groups, codes));
    expect_as_in_memory(dequantized(codes, groups, {false, 1}, {}), {rows, columns});
    expect_as_in_memory(dequantized(codes, groups, {true, matrices}, {}),
                        {matrices, columns, rows / matrices});
  }
}

TEST(Dequantized, PartsOfAStackAreMatrices) {
  const kernels::GgmlBlock& block = *kernels::ggml_block("Q8_0");
  const auto bytes = random_bytes(static_cast<std::size_t>(3 * 8 * 64 / 32 * block.bytes));
  const auto elements = dequantized(block, bytes, 64, {});
  const Tensor lazy = made_on_reading(elements, {3, 8, 64});
  const Tensor held = in_memory_of(*elements, {3, 8, 64});
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(written(part_of_stack(lazy, i)), written(part_of_stack(held, i)));
}

}  // namespace
}  // namespace sardonyx::onnx

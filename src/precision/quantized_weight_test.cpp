#include "precision/quantized_weight.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace sardonyx::precision {
namespace {

using base::DType;
using kernels::BlockForm;
using onnx::Tensor;

Tensor matrix(std::int64_t rows, std::int64_t columns) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(static_cast<float>(std::cos(static_cast<double>(i) * 1.3)));
  return Tensor::of_bytes(DType::kFloat32, {rows, columns}, std::as_bytes(std::span(values)));
}

// What the parts in the layout of DequantizeLinear along the last axis stand for.
std::vector<double> held(const QuantizedWeight& weight, std::int64_t columns) {
  const Tensor codes = weight.part(QuantizedWeight::kCodes);
  const std::vector<std::int64_t> numbers = codes.ints().value();
  const std::vector<double> scales = weight.part(QuantizedWeight::kScales).reals().value();
  std::vector<double> result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / columns;
    const auto block = static_cast<std::int64_t>(i) % columns / weight.form().size;
    result.push_back(scales[static_cast<std::size_t>(row * weight.blocks() + block)] *
                     static_cast<double>(numbers[i]));
  }
  return result;
}

TEST(QuantizedWeight, PartsAreMadeInAnyOrder) {
  const Tensor source = matrix(5, 48);
  const auto weight = std::make_shared<const QuantizedWeight>(source, Layout::kRows,
                                                              BlockForm{.bits = 8, .size = 16});
  const std::vector<double> scales = weight->part(QuantizedWeight::kScales).reals().value();
  const std::vector<double> values = held(*weight, 48), expected = source.reals().value();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 0.005);
  EXPECT_EQ(weight->part(QuantizedWeight::kScales).reals().value(), scales);
}

TEST(QuantizedWeight, TurnedLayoutHoldsTheSame) {
  const Tensor source = matrix(6, 40);
  const BlockForm form{.size = 16};
  const auto rows = std::make_shared<const QuantizedWeight>(source, Layout::kRows, form);
  const auto transposed =
      std::make_shared<const QuantizedWeight>(source, Layout::kTransposed, form);
  const Tensor codes = transposed->part(QuantizedWeight::kCodes);
  EXPECT_EQ(codes.dims, (std::vector<std::int64_t>{40, 6}));
  EXPECT_EQ(codes.dtype, DType::kInt4);
  const std::vector<std::int64_t> a = rows->part(QuantizedWeight::kCodes).ints().value();
  const std::vector<std::int64_t> b = codes.ints().value();
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t column = 0; column < 40; ++column)
      EXPECT_EQ(a[row * 40 + column], b[column * 6 + row]);
  EXPECT_EQ(rows->error().relative(), transposed->error().relative());
}

TEST(QuantizedWeight, RestoresWhatItsPartsStandFor) {
  const auto weight = std::make_shared<const QuantizedWeight>(matrix(5, 48), Layout::kRows,
                                                              BlockForm{.bits = 4, .size = 32});
  const std::vector<float> restored = weight->restored();
  const std::vector<double> expected = held(*weight, 48);
  ASSERT_EQ(restored.size(), expected.size());
  for (std::size_t i = 0; i < restored.size(); ++i)
    EXPECT_FLOAT_EQ(restored[i], static_cast<float>(expected[i]));
}

TEST(QuantizedWeight, BlocksAreFilledUp) {
  const auto weight = std::make_shared<const QuantizedWeight>(
      matrix(3, 40), Layout::kPaddedBlocks, BlockForm{.size = 32, .symmetric = false});
  EXPECT_EQ(weight->part(QuantizedWeight::kCodes).dims, (std::vector<std::int64_t>{3, 2, 16}));
  EXPECT_EQ(weight->part(QuantizedWeight::kZeroPoints).dims, (std::vector<std::int64_t>{3, 1}));
  const auto codes = weight->part(QuantizedWeight::kCodes).ints().value();
  const auto zeros = weight->part(QuantizedWeight::kZeroPoints).ints().value();
  // The last byte of each row is filling: the second block's zero point, twice.
  for (std::size_t row = 0; row < 3; ++row) EXPECT_EQ(codes[row * 32 + 31], zeros[row] / 16 * 17);
}

TEST(QuantizedWeight, OtherDataGoThroughTheSame) {
  const auto weight = std::make_shared<const QuantizedWeight>(matrix(4, 32), Layout::kRows,
                                                              BlockForm{.search = false});
  const Tensor codes = weight->part(QuantizedWeight::kCodes);
  const Tensor others = onnx::rebuilt(codes, Tensor::filled(DType::kFloat32, {4, 32}, 1.0));
  EXPECT_EQ(others.ints().value(), std::vector<std::int64_t>(4 * 32, -8));
  EXPECT_NE(codes.ints().value(), others.ints().value());
}

}  // namespace
}  // namespace sardonyx::precision

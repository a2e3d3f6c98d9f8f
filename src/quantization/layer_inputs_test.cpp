#include "quantization/layer_inputs.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "onnx/graph/ir.h"
#include "quantization/ir_names.h"
#include "symbolic/expr.h"

namespace sardonyx::quantization {
namespace {

// The input of a MatMul: each tensor is a row of its number.
LayerInputs inputs_of(std::size_t tensors) {
  onnx::Model model(std::make_shared<symbolic::Pool>());
  Node* const node = model.add_node("MatMul", "");
  LayerInputs inputs(Layer{node, nullptr, nullptr, nullptr, 1, 1});
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::vector<float> elements(3, static_cast<float>(i));
    inputs.add(elements, std::array<std::int64_t, 2>{1, 3}, 1);
  }
  return inputs;
}

TEST(LayerInputs, KeepsAllRowsOfFewTensors) {
  const LayerInputs inputs = inputs_of(LayerInputs::kMaxRows);
  ASSERT_EQ(inputs.rows(), LayerInputs::kMaxRows);
  EXPECT_EQ(inputs.row(7)[2], 7);
}

TEST(LayerInputs, SpreadsRowsOverManyTensors) {
  constexpr std::size_t kTensors = 40000;
  const LayerInputs inputs = inputs_of(kTensors);
  EXPECT_GT(inputs.rows(), LayerInputs::kMaxRows / 2);
  EXPECT_LE(inputs.rows(), LayerInputs::kMaxRows);
  float before = -1;
  for (std::size_t i = 0; i < inputs.rows(); ++i) {
    EXPECT_LT(before, inputs.row(i)[0]);
    EXPECT_LT(inputs.row(i)[0], before + 64);
    before = inputs.row(i)[0];
  }
  EXPECT_GT(before, kTensors - 64);
}

}  // namespace
}  // namespace sardonyx::quantization

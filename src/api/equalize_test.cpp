// Equalization by values that a callback gives.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx/graph/ir.h"
#include "sardonyx/diagnostic.h"
#include "sardonyx/quantization.h"

namespace sardonyx {
namespace {

using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

constexpr std::int64_t kInputs = 16, kOutputs = 4;
constexpr std::size_t kLarge = 3;  // the channel of the largest factor

// A normalization, and a product of it.
Model normalized() {
  auto model = std::make_unique<onnx::Model>(std::make_shared<symbolic::Pool>());
  const auto node = [&](const char* type, const std::vector<ValueInfo*>& inputs,
                        const std::string& result, std::int64_t size) {
    Node* made = model->add_node(type, "");
    for (ValueInfo* input : inputs) onnx::add_input(made, input);
    onnx::append(model->graph, made);
    ValueInfo* value = model->add_value(result, model->graph);
    value->dtype = base::DType::kFloat32;
    value->has_rank = true;
    value->shape = {8, size};
    onnx::add_output(made, value);
    return value;
  };
  const auto weight = [&](const std::string& name, std::vector<std::int64_t> dims,
                          const std::vector<float>& elements) {
    return model->add_weight(name, Tensor::of_bytes(base::DType::kFloat32, std::move(dims),
                                                    std::as_bytes(std::span(elements))));
  };
  ValueInfo* x = model->add_input(model->graph, "x");
  x->dtype = base::DType::kFloat32;
  x->has_rank = true;
  x->shape = {8, kInputs};
  std::vector<float> scales(kInputs, 1), elements;
  scales[kLarge] = 100;
  for (int i = 0; i < kInputs * kOutputs; ++i)
    elements.push_back(static_cast<float>(i * 37 % 23 - 11) / 11);
  ValueInfo* n = node("LayerNormalization", {x, weight("scale", {kInputs}, scales)}, "n", kInputs);
  ValueInfo* y = node("MatMul", {n, weight("w", {kInputs, kOutputs}, elements)}, "y", kOutputs);
  onnx::set_outputs(model->graph, {y});
  return Model(std::move(model));
}

// Four samples of "n".
NextSample samples() {
  return [count = 0](const ObserveValue& observe) mutable {
    if (count == 4) return false;
    std::vector<float> elements;
    for (int i = 0; i < 8 * kInputs; ++i) {
      const float element = static_cast<float>((i + count) * 61 % 29 - 14) / 14;
      elements.push_back(i % kInputs == kLarge ? element * 100 : element);
    }
    ++count;
    observe("n", elements, std::vector<std::int64_t>{8, kInputs});
    return true;
  };
}

std::vector<double> reals(const Model& model, const std::string& type, std::size_t input) {
  for (Node* node = model.internal().graph->first; node != nullptr; node = node->next)
    if (node->op_type == type) return node->input(input)->constant->reals().value();
  return {};
}

TEST(Equalize, MovesFactorsFromANormalizationIntoTheProduct) {
  Model model = normalized();
  const std::vector<double> scales = reals(model, "LayerNormalization", 1);
  const std::vector<double> weights = reals(model, "MatMul", 1);
  const std::vector<EqualizedValue> done = equalize(model, samples());
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].name, "n");
  EXPECT_EQ(done[0].layers.size(), 1U);
  EXPECT_TRUE(done[0].from_normalization);
  EXPECT_GT(done[0].gain, 3);
  const std::vector<double> new_scales = reals(model, "LayerNormalization", 1);
  const std::vector<double> new_weights = reals(model, "MatMul", 1);
  EXPECT_LT(new_scales[kLarge], scales[kLarge] / 4);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t input = i / kOutputs;
    EXPECT_NEAR(new_weights[i] * new_scales[input], weights[i] * scales[input],
                1e-4 * scales[input]);
  }
}

TEST(Equalize, TakesNothingThatIsNotAskedFor) {
  Model model = normalized();
  EXPECT_TRUE(equalize(model, samples(), {}, {.after_normalizations = false}).empty());
  EXPECT_TRUE(equalize(model, samples(), {}, {.least_gain = 200}).empty());
  EXPECT_THROW(equalize(model, [](const ObserveValue&) { return false; }), Error);
}

TEST(ObservedValues, HaveTypesThatAFileLacks) {
  const Model model = normalized();
  onnx::Model& graph = model.internal();
  graph.opsets[""] = 18;
  ValueInfo* const normal = graph.graph->first->outputs[0];
  normal->dtype = base::DType::kUndefined;
  normal->has_rank = false;
  normal->shape.clear();
  EXPECT_EQ(observed_values(model), std::vector<std::string>{"n"});
}

}  // namespace
}  // namespace sardonyx

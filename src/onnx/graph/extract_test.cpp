#include "onnx/graph/extract.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "onnx/emit/emit_test_graph.h"

namespace sardonyx::onnx {
namespace {

const std::array<float, 2> kWeight = {1, 2};

// What comes from the module `path`, of `x`.
struct Layers : TestGraph {
  Value of(const std::string& path, Value x) {
    const Value y = onnx.add(onnx.mul(x, weight), x);
    for (Node* node = model.graph->last; node != nullptr && node->origin == nullptr;
         node = node->previous)
      if (Origin origin; !path.empty()) {
        origin.scopes = {"model", path};
        node->origin = model.add_origin(origin);
      }
    return y;
  }

  Value weight = [this] {
    Tensor tensor;
    tensor.dtype = DType::kFloat32;
    tensor.dims = {2};
    tensor.data = std::as_bytes(std::span(kWeight)).data();
    return model.add_weight("w", std::move(tensor));
  }();
};

std::string names(const std::vector<ValueInfo*>& values) {
  std::string text;
  for (const ValueInfo* value : values) text += value->name + ' ';
  return text;
}

TEST(SplitTest, HasAStageBeforeTheLayersAndOneAfterThem) {
  Layers graph;
  const Value mask = graph.input("mask", {2}), ids = graph.input("ids", {2});
  graph.input("unread", {2});
  Value x = graph.of("model.embed", ids);
  for (int layer = 0; layer < 4; ++layer) {
    x = graph.of("model.layers." + std::to_string(layer) + ".mlp", x);
    if (layer == 1) x = graph.onnx.add(x, mask);  // between layers, of no module
  }
  x = graph.of("model.norm", x);
  graph.model.rename(x.info(), "y");
  set_outputs(graph.model.graph, {x.info()});
  graph.model.opsets[""] = 20;
  const auto stages = stages_by_layer(graph.model, "model.layers", 4, 2);
  EXPECT_EQ(stages, (std::vector<std::size_t>{0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3}));
  const auto parts = split(graph.model, stages, 4);
  ASSERT_EQ(parts.size(), 4U);
  for (const auto& part : parts) verify(*part);
  EXPECT_EQ(names(parts[0]->graph->inputs), "ids unread ");
  EXPECT_EQ(names(parts[1]->graph->inputs), names(parts[0]->graph->outputs));
  EXPECT_EQ(names(parts[2]->graph->inputs), "mask " + names(parts[1]->graph->outputs));
  EXPECT_EQ(names(parts[3]->graph->outputs), "y ");
  EXPECT_EQ(parts[0]->initializers.front()->constant, parts[3]->initializers.front()->constant);
}

TEST(SplitTest, TakesTimeByTheNodesAndNotByTheirSquare) {
  const auto seconds = [](std::size_t layers) {
    Layers graph;
    Value x = graph.input("ids", {2});
    for (std::size_t layer = 0; layer < layers; ++layer)
      x = graph.of("layers." + std::to_string(layer), x);
    set_outputs(graph.model.graph, {x.info()});
    const auto begin = std::chrono::steady_clock::now();
    const auto stages = stages_by_layer(graph.model, "layers", layers, layers);
    EXPECT_EQ(split(graph.model, stages, layers + 2).size(), layers + 2);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  seconds(500);
  // Sixteen times as many layers, and far less than 256 times as long.
  EXPECT_LT(seconds(8000), 100 * (seconds(500) + 1e-3));
}

}  // namespace
}  // namespace sardonyx::onnx

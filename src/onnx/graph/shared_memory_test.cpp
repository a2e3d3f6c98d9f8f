#include "onnx/graph/shared_memory.h"

#include <gtest/gtest.h>

#include "onnx/emit/emit_test_graph.h"

namespace sardonyx::onnx {
namespace {

// A state of the size of the tokens x.
struct Recurrence : TestGraph {
  Recurrence() : past(input("past", {3, 3})), x(input("x", {3, 3})) {}

  bool may_share(Value present) {
    set_outputs(model.graph, {present.info()});
    return may_share_memory(*past.info(), *present.info());
  }

  Value past, x;
};

TEST(SharedMemoryTest, IsForElementsThatComeOfThemselves) {
  Recurrence graph;
  EXPECT_TRUE(graph.may_share(graph.onnx.add(graph.past, graph.x)));
}

TEST(SharedMemoryTest, IsForReadersThatRunEarlier) {
  Recurrence graph;
  const Value product = graph.onnx.matmul(graph.past, graph.x);
  EXPECT_TRUE(graph.may_share(graph.onnx.add(product, graph.x)));
}

TEST(SharedMemoryTest, IsNotForReadersThatMayRunLater) {
  Recurrence graph;
  graph.onnx.neg(graph.past);
  EXPECT_FALSE(graph.may_share(graph.onnx.neg(graph.x)));
}

TEST(SharedMemoryTest, IsNotForReadersOfAView) {
  Recurrence graph;
  graph.onnx.neg(graph.onnx.reshape(graph.past, {9}));
  EXPECT_FALSE(graph.may_share(graph.onnx.neg(graph.x)));
}

TEST(SharedMemoryTest, IsNotForElementsThatMove) {
  Recurrence graph;
  EXPECT_FALSE(graph.may_share(graph.onnx.matmul(graph.past, graph.past)));
}

}  // namespace
}  // namespace sardonyx::onnx

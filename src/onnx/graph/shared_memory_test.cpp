#include "onnx/graph/shared_memory.h"

#include <gtest/gtest.h>

#include <string>

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

// A state of as many rows as the tokens x.
struct RowsOfState : TestGraph {
  RowsOfState()
      : rows(pool->symbol("rows")), past(input("past", {rows, 3})), x(input("x", {rows, 3})) {}

  std::string written(Value present) {
    set_outputs(model.graph, {present.info()});
    model.rename(present.info(), "present");
    write_after_readers(model, *past.info(), *present.info());
    verify(model);
    EXPECT_EQ(model.graph->outputs[0]->name, "present");
    return ops();
  }

  bool may_share() { return may_share_memory(*past.info(), *model.graph->outputs[0]); }

  symbolic::Expr rows;
  Value past, x;
};

TEST(SharedMemoryTest, WritesWhenTheReaderHasRun) {
  RowsOfState graph;
  graph.onnx.neg(graph.past);
  EXPECT_EQ(graph.written(graph.onnx.abs(graph.x)), "Neg Abs Shape Concat Expand");
  EXPECT_TRUE(graph.may_share());
}

TEST(SharedMemoryTest, WritesWhenAllReadersHaveRun) {
  RowsOfState graph;
  graph.onnx.neg(graph.past);
  graph.onnx.exp(graph.past);
  EXPECT_EQ(graph.written(graph.onnx.abs(graph.x)), "Neg Exp Abs Shape Shape Max Concat Expand");
  EXPECT_TRUE(graph.may_share());
}

TEST(SharedMemoryTest, LeavesWhatIsWrittenInOrder) {
  RowsOfState graph;
  EXPECT_EQ(graph.written(graph.onnx.add(graph.past, graph.x)), "Add");
}

TEST(SharedMemoryTest, LeavesReadersWithOtherRows) {
  RowsOfState graph;
  graph.onnx.transpose(graph.past, {1, 0});
  EXPECT_EQ(graph.written(graph.onnx.abs(graph.x)), "Transpose Abs");
  EXPECT_FALSE(graph.may_share());
}

}  // namespace
}  // namespace sardonyx::onnx

#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;
using symbolic::Expr;

struct GatherRowsToSlice : RulesTest {
  Value mask = input("mask", {b, s}, DType::kBool);

  Value count(Expr size, std::initializer_list<std::int64_t> axes) {
    const Value range = onnx.range(onnx.int_scalar(0), onnx.size(size), onnx.int_scalar(1));
    return onnx.unsqueeze(range, axes);
  }

  // y = mask[i, j], in rows laid end to end.
  void read(Value i, Expr step, Value j) {
    const Value rows = onnx.reshape(mask, {b * s, 1});
    const Value index = onnx.add(onnx.mul(i, onnx.size(step)), j);
    outputs({onnx.not_(onnx.gather(rows, index))});
  }
};

TEST_F(GatherRowsToSlice, EveryElementInOrderIsReadAsItLies) {
  read(count(b, {1, 2, 3}), s, count(s, {0, 1, 2}));
  EXPECT_TRUE(run(kGatherRowsToSlice));
  EXPECT_EQ(ops(), "Unsqueeze Not");
  EXPECT_EQ(type(model.graph->first->output()), "bool[b, 1, 1, s, 1]");
}

TEST_F(GatherRowsToSlice, ColumnsBeforeRowsStay) {
  read(count(b, {0, 1, 2}), s, count(s, {1, 2, 3}));
  EXPECT_FALSE(run(kGatherRowsToSlice));
  EXPECT_EQ(reason(), "its ranges do not count what is read in order");
}

TEST_F(GatherRowsToSlice, ADiagonalStays) {
  read(count(s, {1}), s, count(s, {1}));
  EXPECT_FALSE(run(kGatherRowsToSlice));
}

TEST_F(GatherRowsToSlice, AnotherStepStays) {
  read(count(b, {1}), s + Expr(1), count(s, {0}));
  EXPECT_FALSE(run(kGatherRowsToSlice));
}

TEST_F(GatherRowsToSlice, PartOfARowStays) {
  read(count(b, {1}), s, count(4, {0}));
  EXPECT_FALSE(run(kGatherRowsToSlice));
}

}  // namespace
}  // namespace sardonyx::passes

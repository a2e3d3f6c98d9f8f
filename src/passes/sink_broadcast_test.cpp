#include "passes/passes.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

struct SinkBroadcast : RulesTest {
  Value scores = input("scores", {b, 4, s, s}), seen = input("seen", {s, s}, DType::kBool);
  Value rows = input("rows", {b, 1, s, s}, DType::kBool);
  Value lowest = onnx.scalar(-1e9, DType::kFloat32), zero = onnx.scalar(0, DType::kFloat32);

  Value counter(std::int64_t rank) {
    const Value length = onnx.squeeze(onnx.shape(scores, {.end = 3, .start = 2}), {0});
    std::vector<std::int64_t> axes;
    for (std::int64_t i = 0; i + 1 < rank; ++i) axes.push_back(i);
    return onnx.unsqueeze(onnx.range(onnx.int_scalar(0), length, onnx.int_scalar(1)), axes);
  }

  std::int64_t narrowed() {
    report = {};
    RuleContext context(model, {}, report);
    const std::int64_t count = sink_broadcast(context);
    onnx::verify(model);
    return count;
  }
};

TEST_F(SinkBroadcast, AMaskIsAddedAsItIs) {
  const Value wide = onnx.expand(onnx.unsqueeze(seen, {0, 1}), onnx.shape(rows));
  const Value added = onnx.where(wide, zero, lowest);
  outputs({onnx.add(scores, added), onnx.sub(scores, added)});
  EXPECT_EQ(narrowed(), 2);
  EXPECT_EQ(ops(), "Where Add Sub");
  EXPECT_EQ(model.graph->first->output()->shape, (onnx::Shape{s, s}));
}

TEST_F(SinkBroadcast, WhatIsFilledIsANumber) {
  const Value full = onnx.expand(onnx.scalar(7, DType::kFloat32), onnx.shape(scores));
  outputs({onnx.max({scores, full})});
  EXPECT_EQ(narrowed(), 1);
  EXPECT_EQ(ops(), "Max");
}

TEST_F(SinkBroadcast, NoCounterIsBelowZero) {
  const Value holds = onnx.greater_or_equal(onnx.unsqueeze(counter(1), {1}), onnx.int_scalar(0));
  outputs({onnx.where(onnx.and_(holds, rows), scores, lowest)});
  EXPECT_EQ(narrowed(), 1);
  EXPECT_EQ(ops(), "Where");
}

TEST_F(SinkBroadcast, LeadingAxesBesideOthers) {
  const Value keys = counter(1), wide = onnx.unsqueeze(keys, {0, 1, 3});
  const Value past = onnx.where(onnx.less(wide, keys), zero, lowest);
  outputs({onnx.add(scores, past), onnx.sub(keys, onnx.unsqueeze(keys, {1}))});
  EXPECT_EQ(narrowed(), 1);
  EXPECT_EQ(ops(), "Shape Squeeze Range Unsqueeze Less Where Add Sub");
}

TEST_F(SinkBroadcast, WhatAnOutputOrAnOperatorWantsWholeStays) {
  const Value wide = onnx.expand(seen, onnx.shape(rows));
  outputs({onnx.cast(wide, DType::kFloat32)});
  EXPECT_EQ(narrowed(), 0);
  outputs({onnx.softmax(onnx.where(wide, zero, lowest), {.axis = -1})});
  EXPECT_EQ(narrowed(), 0);
}

TEST_F(SinkBroadcast, ASizeThatNothingElseHasStays) {
  const Value wide = onnx.expand(seen, onnx.shape(rows));
  outputs({onnx.where(wide, onnx.scalar(1, DType::kFloat32), lowest)});
  EXPECT_EQ(narrowed(), 0);
  EXPECT_EQ(ops(), "Shape Expand Where");
}

TEST_F(SinkBroadcast, OneReaderThatWantsTheWholeKeepsIt) {
  const Value wide = onnx.expand(seen, onnx.shape(rows));
  outputs({onnx.where(wide, scores, lowest), onnx.transpose(wide, {0, 1, 3, 2})});
  EXPECT_EQ(narrowed(), 0);
}

TEST_F(SinkBroadcast, RowsOfATableByPlace) {
  const Value table = weight("table", {8, 2}, std::vector<float>(16, 1));
  const Value rows_of = onnx.gather(table, counter(2), {.axis = 0});
  outputs({onnx.add(input("x", {b, s, 2}), rows_of)});
  EXPECT_EQ(narrowed(), 1);
  EXPECT_EQ(ops(), "Shape Squeeze Range Gather Add");
}

}  // namespace
}  // namespace sardonyx::passes

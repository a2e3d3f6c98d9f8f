#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class GatherRows : public RulesTest {
 protected:
  Value image = input("image", {b, 16, 8});  // 4 by 4 places of 8 numbers

  Value shifted(const Value& x) {
    const Value wide = onnx.reshape(x, {b, 4, 4, 8});
    return onnx.concat({onnx.slice(wide, 1, 1, 4), onnx.slice(wide, 1, 0, 1)}, 1);
  }
  Value windows(const Value& x) {
    const std::vector<std::int64_t> perm = {0, 1, 3, 2, 4, 5};
    return onnx.transpose(onnx.reshape(x, {b, 2, 2, 2, 2, 8}), perm);
  }
  std::vector<std::int64_t> places() const {
    for (const onnx::Node* node = model.graph->first; node != nullptr; node = node->next)
      if (node->is("Gather")) return node->input(1)->constant->ints().value();
    return {};
  }
};

TEST_F(GatherRows, WindowsOfAShiftedImage) {
  outputs({onnx.neg(onnx.reshape(windows(shifted(image)), {b, 16, 8}))});
  EXPECT_TRUE(run(kGatherRows));
  EXPECT_EQ(ops(), "Gather Neg");
  EXPECT_EQ(places(),
            (std::vector<std::int64_t>{4, 5, 8, 9, 6, 7, 10, 11, 12, 13, 0, 1, 14, 15, 2, 3}));
}

TEST_F(GatherRows, NeighborsSideBySide) {
  const Value wide = onnx.reshape(image, {b, 4, 4, 8});
  std::vector<Value> corners;
  for (const std::int64_t across : {0, 1})
    for (const std::int64_t down : {0, 1})
      corners.push_back(onnx.slice(onnx.slice(wide, 1, down, 4, 2), 2, across, 4, 2));
  outputs({onnx.neg(onnx.reshape(onnx.concat(corners, 3), {b, 4, 32}))});
  EXPECT_TRUE(run(kGatherRows));
  EXPECT_EQ(ops(), "Gather Reshape Neg");
  EXPECT_EQ(places(),
            (std::vector<std::int64_t>{0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15}));
}

TEST_F(GatherRows, OneCopyStays) {
  outputs({onnx.neg(onnx.reshape(windows(image), {b, 16, 8}))});
  EXPECT_FALSE(run(kGatherRows));
}

TEST_F(GatherRows, WhatIsReadOnTheWayStays) {
  const Value wide = shifted(image);
  outputs({onnx.neg(windows(wide)), onnx.exp(wide)});
  EXPECT_TRUE(run(kGatherRows));  // the shift alone: its Slices and the Concat
  EXPECT_EQ(ops(), "Gather Reshape Reshape Transpose Neg Exp");
}

TEST_F(GatherRows, SamplesThatMoveStay) {
  const std::vector<std::int64_t> perm = {1, 0, 2};
  const Value three = input("three", {3, 16, 8});
  const Value moved = onnx.concat({onnx.slice(three, 0, 1, 3), onnx.slice(three, 0, 0, 1)}, 0);
  outputs({onnx.neg(onnx.transpose(moved, perm))});
  EXPECT_FALSE(run(kGatherRows));
}

TEST_F(GatherRows, SizesThatVaryStay) {
  const Value x = input("x", {b, s, 8});
  const Value moved = onnx.concat({onnx.slice(x, 1, 1, 4), onnx.slice(x, 1, 0, 1)}, 1);
  outputs({onnx.neg(moved)});
  EXPECT_FALSE(run(kGatherRows));
}

TEST_F(GatherRows, ShortRowsStay) {
  const Value x = input("x", {b, 16, 4});
  outputs({onnx.neg(onnx.concat({onnx.slice(x, 1, 1, 16), onnx.slice(x, 1, 0, 1)}, 1))});
  EXPECT_FALSE(run(kGatherRows));
}

}  // namespace
}  // namespace sardonyx::passes

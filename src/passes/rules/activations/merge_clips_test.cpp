#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using enum base::DType;
using onnx::Value;

class MergeClips : public RulesTest {
 protected:
  Value x = input("x", {b, 4});
  Value number(double each) { return onnx.scalar(each, kFloat32); }
  std::vector<double> bounds() const {
    const onnx::Node* clip = model.graph->last;
    return {reals(clip->input(1)).front(), reals(clip->input(2)).front()};
  }
};

TEST_F(MergeClips, BehindARelu) {
  outputs({onnx.clip(onnx.relu(x), number(-1), number(6))});
  EXPECT_TRUE(run(kMergeClips));
  EXPECT_EQ(ops(), "Clip");
  EXPECT_EQ(bounds(), (std::vector<double>{0, 6}));
}

TEST_F(MergeClips, TheSecondBoundsTheBounds) {
  outputs({onnx.clip(onnx.clip(x, number(1), number(2)), number(3), number(4))});
  EXPECT_TRUE(run(kMergeClips));
  EXPECT_EQ(bounds(), (std::vector<double>{3, 3}));
}

TEST_F(MergeClips, FromZeroOnIsRelu) {
  outputs({onnx.relu(onnx.clip(x, number(-5)))});
  EXPECT_TRUE(run(kMergeClips));
  EXPECT_EQ(ops(), "Relu");
}

TEST_F(MergeClips, ComputedBoundsStay) {
  outputs({onnx.clip(onnx.relu(x), input("low", {}))});
  EXPECT_FALSE(run(kMergeClips));
}

TEST_F(MergeClips, WhatIsReadElsewhereStays) {
  const Value y = onnx.relu(x);
  outputs({onnx.clip(y, Value(), number(6)), onnx.neg(y)});
  EXPECT_FALSE(run(kMergeClips));
}

}  // namespace
}  // namespace sardonyx::passes

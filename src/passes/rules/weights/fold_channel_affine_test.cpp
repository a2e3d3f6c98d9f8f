#include "passes/rules/weights/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

TEST_F(RulesTest, ScaleAndShiftByChannelGoIntoConv) {
  const Value x = input("x", {b, 1, 4});
  const Value y = onnx.conv(x, weight("w", {2, 1, 1}, {1, 2}), Value());
  const Value scaled = onnx.mul(weight("scale", {1, 2, 1}, {10, 100}), y);
  outputs({onnx.add(scaled, weight("shift", {2, 1}, {3, 4}))});
  EXPECT_TRUE(run(kFoldChannelAffine));
  EXPECT_EQ(ops(), "Conv");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{10, 200}));
  EXPECT_EQ(reals(model.graph->first->input(2)), (std::vector<double>{3, 4}));
}

TEST_F(RulesTest, AScaleAlongAnotherAxisStays) {
  const Value x = input("x", {b, 1, 2});
  const Value y = onnx.conv(x, weight("w", {2, 1, 1}, {1, 2}), Value());
  outputs({onnx.mul(y, weight("scale", {2}, {10, 100}))});
  EXPECT_FALSE(run(kFoldChannelAffine));
}

TEST_F(RulesTest, DifferenceAndQuotientByChannelGoIntoConv) {
  const Value x = input("x", {b, 1, 4});
  const Value y = onnx.conv(x, weight("w", {2, 1, 1}, {1, 2}), Value());
  const Value centered = onnx.sub(y, weight("mean", {2, 1}, {3, 4}));
  const Value scaled = onnx.div(centered, weight("deviation", {2, 1}, {2, 4}));
  outputs({onnx.sub(weight("shift", {2, 1}, {10, 20}), scaled)});
  EXPECT_TRUE(run(kFoldChannelAffine));
  EXPECT_EQ(ops(), "Conv");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{-0.5, -0.5}));
  EXPECT_EQ(reals(model.graph->first->input(2)), (std::vector<double>{11.5, 21}));
}

TEST_F(RulesTest, WhatVariesDividesWhatIsConstant) {
  const Value y = onnx.conv(input("x", {b, 1, 4}), weight("w", {2, 1, 1}, {1, 2}), Value());
  outputs({onnx.div(weight("scale", {2, 1}, {10, 100}), y)});
  EXPECT_FALSE(run(kFoldChannelAffine));
}

}  // namespace
}  // namespace sardonyx::passes

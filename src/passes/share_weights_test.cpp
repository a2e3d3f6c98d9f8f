#include "passes/passes.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

using ShareWeights = RulesTest;

TEST_F(ShareWeights, TheSameNumbersBecomeOneWeight) {
  const Value x = input("x", {b, 2});
  const Value a = weight("a", {2}, {1, 2}), again = weight("again", {2}, {1, 2});
  outputs({onnx.add(onnx.mul(x, a), again)});
  EXPECT_TRUE(run(share_weights));
  EXPECT_EQ(a->uses.size(), 2U);
  EXPECT_TRUE(again->uses.empty());
  EXPECT_FALSE(run(share_weights));
}

TEST_F(ShareWeights, OtherNumbersSizesAndTypesStay) {
  const Value x = input("x", {b, 2});
  const Value a = weight("a", {2}, {1, 2}), other = weight("other", {2}, {1, 3});
  const Value row = weight("row", {1, 2}, {1, 2}), zero = weight("zero", {2}, {0, 0});
  const Value negative = weight("negative", {2}, {-0.0F, -0.0F});
  Value y = x;
  for (const Value each : {a, other, row, zero, negative}) y = onnx.mul(y, each);
  outputs({y});
  EXPECT_FALSE(run(share_weights));
}

TEST_F(ShareWeights, WhatTheGraphHandsOutOrSomethingNamesStays) {
  const Value x = input("x", {b, 2});
  const Value a = weight("a", {2}, {1, 2}), named = weight("named", {2}, {1, 2});
  named->is_pinned = true;
  outputs({onnx.add(onnx.mul(x, a), named)});
  EXPECT_FALSE(run(share_weights));
}

}  // namespace
}  // namespace sardonyx::passes

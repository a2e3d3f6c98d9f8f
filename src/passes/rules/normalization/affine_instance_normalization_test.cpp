#include "passes/rules/normalization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

struct AffineInstanceNormalization : RulesTest {
  Value x = input("x", {b, 2, s});
  Value normal =
      onnx.instance_normalization(x, weight("scale", {2}, {1, 2}), weight("bias", {2}, {3, 4}));
};

TEST_F(AffineInstanceNormalization, WhatFollowsIsWorkedIn) {
  const Value scaled = onnx.mul(weight("w", {2, 1}, {5, 6}), normal);
  outputs({onnx.neg(onnx.add(scaled, weight("b", {1, 2, 1}, {7, 8})))});
  EXPECT_TRUE(run(kAffineInstanceNormalization)) << reason();
  EXPECT_EQ(ops(), "InstanceNormalization Neg");
  const onnx::Node* made = model.graph->first;
  EXPECT_EQ(reals(made->input(1)), (std::vector<double>{5, 12}));
  EXPECT_EQ(reals(made->input(2)), (std::vector<double>{22, 32}));
}

TEST_F(AffineInstanceNormalization, WhatIsNotOfChannelsStays) {
  outputs({onnx.neg(onnx.mul(normal, weight("w", {2}, {5, 6})))});
  EXPECT_FALSE(run(kAffineInstanceNormalization));
  EXPECT_EQ(reason(), "it is not one number a channel");
}

TEST_F(AffineInstanceNormalization, WhatElseReadsItStays) {
  outputs({onnx.neg(onnx.mul(normal, weight("w", {2, 1}, {5, 6}))), onnx.exp(normal)});
  EXPECT_FALSE(run(kAffineInstanceNormalization));
  EXPECT_EQ(reason(), "something else reads what is normalized");
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using enum base::DType;
using onnx::Value;

class MergeScaleFactors : public RulesTest {
 protected:
  Value x = input("x", {b, 2}), i = input("i", {b}, kInt64);
  Value number(double each) { return onnx.scalar(each, kFloat32); }
};

TEST_F(MergeScaleFactors, OfProducts) {
  outputs({onnx.mul(onnx.div(x, number(2)), weight("w", {2}, {3, 4}))});
  EXPECT_TRUE(run(kMergeScaleFactors, {.stop_after = {}, .infer_types = true, .limits = {}}));
  EXPECT_EQ(ops(), "Mul");
  EXPECT_EQ(reals(model.graph->last->input(1)), (std::vector<double>{1.5, 2}));
}

TEST_F(MergeScaleFactors, OfSumsOfIntegers) {
  outputs({onnx.add(onnx.sub(i, onnx.int_scalar(3)), onnx.int_scalar(5))});
  EXPECT_TRUE(run(kMergeScaleFactors));
  EXPECT_EQ(ops(), "Add");
  EXPECT_EQ(Value(model.graph->last->input(1)).ints(), (std::vector<std::int64_t>{2}));
}

// (x + 2^23) - 2^23 rounds.
TEST_F(MergeScaleFactors, SumsOfRealNumbersStay) {
  outputs({onnx.sub(onnx.add(x, number(8388608)), number(8388608))});
  EXPECT_FALSE(run(kMergeScaleFactors));
}

// i / 3 * 3 is a multiple of 3.
TEST_F(MergeScaleFactors, QuotientsOfIntegersStay) {
  outputs({onnx.mul(onnx.div(i, onnx.int_scalar(3)), onnx.int_scalar(3))});
  EXPECT_FALSE(run(kMergeScaleFactors));
}

TEST_F(MergeScaleFactors, WhatWouldOverflowStays) {
  outputs({onnx.mul(onnx.mul(x, number(1e-30)), number(1e30))});
  EXPECT_FALSE(run(kMergeScaleFactors));
}

TEST_F(MergeScaleFactors, WhatAProgramTrainedStays) {
  outputs({onnx.mul(onnx.mul(x, number(2)), weight("w", {2}, {3, 4}))});
  EXPECT_FALSE(run(kMergeScaleFactors));
}

}  // namespace
}  // namespace sardonyx::passes

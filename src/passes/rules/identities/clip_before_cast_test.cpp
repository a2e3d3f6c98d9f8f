#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class ClipBeforeCast : public RulesTest {
 protected:
  Value number(std::int64_t value) { return onnx.int_scalar(value, DType::kInt64); }
  Value integers(const Value& of) { return onnx.cast(of, DType::kInt64); }
  Value x = input("x", {b, 4});
};

TEST_F(ClipBeforeCast, BehindASum) {
  outputs({onnx.min({onnx.add(integers(x), number(8)), number(15)})});
  EXPECT_TRUE(run(kClipBeforeCast));
  EXPECT_EQ(ops(), "Min Cast Add");
  EXPECT_EQ(reals(model.graph->first->input(1)), std::vector<double>{7});
  EXPECT_EQ(type(model.graph->outputs[0]), "int64[b, 4]");
}

TEST_F(ClipBeforeCast, WithoutASum) {
  outputs({onnx.min({number(-3), integers(x)})});
  EXPECT_TRUE(run(kClipBeforeCast));
  EXPECT_EQ(ops(), "Min Cast");
}

TEST_F(ClipBeforeCast, OfIntegersStays) {
  outputs({onnx.min({integers(input("y", {b}, DType::kInt32)), number(15)})});
  EXPECT_FALSE(run(kClipBeforeCast));
}

TEST_F(ClipBeforeCast, AGreatestNumberStays) {
  outputs({onnx.max({integers(x), number(0)})});
  EXPECT_FALSE(run(kClipBeforeCast));
}

TEST_F(ClipBeforeCast, WhatFloat32DoesNotHaveStays) {
  outputs({onnx.min({integers(x), number((std::int64_t{1} << 24) + 1)})});
  EXPECT_FALSE(run(kClipBeforeCast));
  EXPECT_EQ(reason(), "the bound is too large for a real number");
}

}  // namespace
}  // namespace sardonyx::passes

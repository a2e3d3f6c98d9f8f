#include "passes/rules/normalization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseRmsNormalization : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});
  Value scale = weight("scale", {4}, {1, 2, 3, 4});

  Value deviation(Value of, double epsilon, std::int64_t axis = -1) {
    const std::vector<std::int64_t> axes = {axis};
    const Value mean = onnx.reduce("ReduceMean", onnx.mul(of, of), axes, true);
    return onnx.sqrt(onnx.add(mean, onnx.scalar_like(epsilon, of)));
  }
};

TEST_F(RaiseRmsNormalization, ProductWithTheInverse) {
  outputs({onnx.mul(scale, onnx.mul(x, onnx.reciprocal(deviation(x, 1e-6))))});
  EXPECT_TRUE(run(kRaiseRmsNormalization));
  EXPECT_EQ(ops(), "RMSNormalization");
  const onnx::Node* node = model.graph->first;
  EXPECT_EQ(node->float_or("epsilon", 0), 1e-6F);
  EXPECT_EQ(node->input(0), x.info());
  EXPECT_EQ(node->input(1), scale.info());
}

TEST_F(RaiseRmsNormalization, QuotientOfAPower) {
  const std::vector<std::int64_t> last = {2};
  const Value square = onnx.pow(x, onnx.scalar(2, DType::kFloat32));
  const Value mean = onnx.reduce("ReduceMean", square, last, true);
  const Value root = onnx.sqrt(onnx.add(onnx.scalar(1e-5, DType::kFloat32), mean));
  outputs({onnx.mul(onnx.div(x, root), scale)});
  EXPECT_TRUE(run(kRaiseRmsNormalization));
  EXPECT_EQ(ops(), "RMSNormalization");
}

TEST_F(RaiseRmsNormalization, AnotherAxisOrAnotherTensorStays) {
  const Value y = input("y", {b, s, 4});
  outputs({onnx.mul(scale, onnx.div(x, deviation(x, 1e-6, 1))),
           onnx.mul(scale, onnx.div(x, deviation(y, 1e-6)))});
  EXPECT_FALSE(run(kRaiseRmsNormalization));
}

TEST_F(RaiseRmsNormalization, WhatIsReadElsewhereStays) {
  const Value root = deviation(x, 1e-6);
  outputs({onnx.mul(scale, onnx.div(x, root)), root});
  EXPECT_FALSE(run(kRaiseRmsNormalization));
}

TEST_F(RaiseRmsNormalization, DeclinesAScaleOfEveryElement) {
  outputs({onnx.mul(input("z", {b, s, 4}), onnx.div(x, deviation(x, 1e-6)))});
  EXPECT_FALSE(run(kRaiseRmsNormalization));
  EXPECT_EQ(reason(), "what it is scaled by is no vector of the last axis");
}

}  // namespace
}  // namespace sardonyx::passes

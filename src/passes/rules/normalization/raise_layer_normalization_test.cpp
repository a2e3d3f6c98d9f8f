#include "passes/rules/normalization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseLayerNormalization : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value mean(Value of, std::vector<std::int64_t> axes = {-1}) {
    return onnx.reduce("ReduceMean", of, axes, true);
  }
  Value root(Value variance) {
    return onnx.sqrt(onnx.add(variance, onnx.scalar(1e-5, DType::kFloat32)));
  }
};

TEST_F(RaiseLayerNormalization, QuotientOfAPower) {
  const Value d = onnx.sub(x, mean(x));
  outputs({onnx.div(d, root(mean(onnx.pow(d, onnx.scalar(2, DType::kFloat32)))))});
  EXPECT_TRUE(run(kRaiseLayerNormalization));
  EXPECT_EQ(ops(), "LayerNormalization");
  const onnx::Node* node = model.graph->first;
  EXPECT_EQ(node->float_or("epsilon", 0), 1e-5F);
  EXPECT_EQ(node->int_or("axis", 0), -1);
  EXPECT_EQ(reals(node->input(1)), (std::vector<double>{1, 1, 1, 1}));
}

TEST_F(RaiseLayerNormalization, ProductWithTheInverse) {
  const Value d = onnx.sub(x, mean(x, {2}));
  outputs({onnx.mul(onnx.reciprocal(root(mean(onnx.mul(d, d)))), d)});
  EXPECT_TRUE(run(kRaiseLayerNormalization));
  EXPECT_EQ(ops(), "LayerNormalization");
}

TEST_F(RaiseLayerNormalization, ScaledBeforeItIsDivided) {
  const Value d = onnx.sub(x, mean(x)), scale = weight("scale", {4}, {1, 2, 3, 4});
  outputs({onnx.div(onnx.mul(scale, d), root(mean(onnx.mul(d, d))))});
  EXPECT_TRUE(run(kRaiseLayerNormalization));
  EXPECT_EQ(ops(), "LayerNormalization");
  EXPECT_EQ(model.graph->first->input(1), scale.info());
}

TEST_F(RaiseLayerNormalization, OfDifferencesThatAreThereTwice) {
  const Value d = onnx.sub(x, mean(x)), e = onnx.sub(x, mean(x, {2}));
  outputs({onnx.div(d, root(mean(onnx.mul(e, e))))});
  EXPECT_TRUE(run(kRaiseLayerNormalization));
  EXPECT_EQ(ops(), "LayerNormalization");
}

TEST_F(RaiseLayerNormalization, InTensorFlowsOrder) {
  const Value scale = weight("scale", {4}, {1, 2, 3, 4}), bias = weight("bias", {4}, {4, 3, 2, 1});
  const Value m = mean(x), d = onnx.sub(x, m);
  const Value gain = onnx.mul(onnx.reciprocal(root(mean(onnx.mul(d, d)))), scale);
  outputs({onnx.add(onnx.mul(x, gain), onnx.sub(bias, onnx.mul(m, gain)))});
  EXPECT_TRUE(run(kRaiseLayerNormalization));
  EXPECT_EQ(ops(), "LayerNormalization");
  EXPECT_EQ(model.graph->first->input(1), scale.info());
  EXPECT_EQ(model.graph->first->input(2), bias.info());
}

TEST_F(RaiseLayerNormalization, ChannelsAreMovedToTheEnd) {
  const Value image = input("image", {b, 4, s, s});
  const Value d = onnx.sub(image, mean(image, {1}));
  outputs({onnx.div(d, root(mean(onnx.mul(d, d), {1})))});
  EXPECT_TRUE(run(kRaiseLayerNormalization));
  EXPECT_EQ(ops(), "Transpose LayerNormalization Transpose");
  EXPECT_EQ(*model.graph->first->ints("perm"), (std::vector<std::int64_t>{0, 2, 3, 1}));
  EXPECT_EQ(*model.graph->last->ints("perm"), (std::vector<std::int64_t>{0, 3, 1, 2}));
  EXPECT_EQ(type(model.graph->last->output()), "float32[b, 4, s, s]");
}

TEST_F(RaiseLayerNormalization, DeclinesChannelsOfAnOpenSize) {
  const Value d = onnx.sub(x, mean(x, {1}));
  outputs({onnx.div(d, root(mean(onnx.mul(d, d), {1})))});
  EXPECT_FALSE(run(kRaiseLayerNormalization));
  EXPECT_EQ(reason(), "the size that is normalized over is not constant");
}

TEST_F(RaiseLayerNormalization, DeclinesAMeanOverOtherAxes) {
  const Value d = onnx.sub(x, mean(x, {1}));
  outputs({onnx.div(d, root(mean(onnx.mul(d, d))))});
  EXPECT_FALSE(run(kRaiseLayerNormalization));
  EXPECT_EQ(reason(), "mean and variance are taken over different axes");
}

TEST_F(RaiseLayerNormalization, VarianceOfSomethingElseStays) {
  const Value y = input("y", {b, s, 4});
  const Value d = onnx.sub(x, mean(x)), e = onnx.sub(y, mean(y));
  outputs({onnx.div(d, root(mean(onnx.mul(e, e))))});
  EXPECT_FALSE(run(kRaiseLayerNormalization));
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/weights/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

struct ScaleProducts : RulesTest {
  Value x = input("x", {b, s, 2});
  Value w = weight("w", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), bias = weight("bias", {4}, {1, 2, 3, 4});
  Options foreign{.stop_after = {}, .infer_types = true, .limits = {}};

  Value heads(Value value) {
    return onnx.transpose(onnx.reshape(value, onnx.ints({0, 0, 2, 2})), {0, 2, 1, 3});
  }
};

TEST_F(ScaleProducts, QueriesAreScaledByTheirProduct) {
  const Value q =
      onnx.mul(heads(onnx.add(onnx.matmul(x, w), bias)), onnx.scalar(0.5, onnx::DType::kFloat32));
  const std::string name = q->name;
  outputs({q});
  EXPECT_TRUE(run(kScaleProducts, foreign)) << reason();
  EXPECT_EQ(ops(), "MatMul Add Reshape Transpose");
  EXPECT_EQ(model.graph->outputs[0]->name, name);
  EXPECT_EQ(reals(model.graph->first->input(1)),
            (std::vector<double>{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}));
  EXPECT_EQ(reals(model.graph->first->next->input(1)), (std::vector<double>{0.5, 1, 1.5, 2}));
  EXPECT_EQ(model.graph->first->input(1)->made_of.front(), w.info());
}

TEST_F(ScaleProducts, OnePartOfTheColumns) {
  const onnx::Values parts =
      onnx.split(2, onnx.add(onnx.matmul(x, w), bias), {}, {.axis = -1, .num_outputs = 2});
  outputs({parts[0], onnx.div(parts[1], onnx.scalar(2, onnx::DType::kFloat32))});
  EXPECT_TRUE(run(kScaleProducts, foreign)) << reason();
  EXPECT_EQ(ops(), "MatMul Add Split");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{1, 2, 1.5, 2, 5, 6, 3.5, 4}));
  EXPECT_EQ(reals(model.graph->first->next->input(1)), (std::vector<double>{1, 2, 1.5, 2}));
}

TEST_F(ScaleProducts, GemmByRowsOfATurnedWeight) {
  const Value rows = input("rows", {b, 4});
  outputs({onnx.mul(onnx.scalar(10, onnx::DType::kFloat32),
                    onnx.gemm(rows, w, weight("c", {2}, {1, 2}), {.transB = 1}))});
  EXPECT_TRUE(run(kScaleProducts, foreign)) << reason();
  EXPECT_EQ(ops(), "Gemm");
  EXPECT_EQ(reals(model.graph->first->input(1)),
            (std::vector<double>{10, 20, 30, 40, 50, 60, 70, 80}));
  EXPECT_EQ(reals(model.graph->first->input(2)), (std::vector<double>{10, 20}));
}

TEST_F(ScaleProducts, WhatIsScaledBeforeItIsMultiplied) {
  outputs({onnx.matmul(onnx.mul(x, onnx.scalar(2, onnx::DType::kFloat32)), w)});
  EXPECT_TRUE(run(kScaleProducts, foreign)) << reason();
  EXPECT_EQ(ops(), "MatMul");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{2, 4, 6, 8, 10, 12, 14, 16}));
}

TEST_F(ScaleProducts, ANumberForEachColumn) {
  for (const Value row :
       {weight("row", {4}, {2, 0, -1, 1e-9F}), weight("rows", {1, 1, 4}, {2, 0, -1, 1e-9F})}) {
    const Value w2 = weight("w2", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    const Value b2 = weight("b2", {4}, {1, 2, 3, 4});
    model.graph->outputs.clear();
    outputs({onnx.mul(row, onnx.add(onnx.matmul(x, w2), b2))});
    EXPECT_TRUE(run(kScaleProducts, foreign)) << reason();
    const onnx::Node* add = model.graph->outputs[0]->producer;
    ASSERT_TRUE(add->is(onnx::Op::kAdd));
    EXPECT_EQ(reals(add->input(0)->producer->input(1)),
              (std::vector<double>{2, 0, -3, 4 * double{1e-9F}, 10, 0, -7, 8 * double{1e-9F}}));
    EXPECT_EQ(reals(add->input(1)), (std::vector<double>{2, 0, -3, 4 * double{1e-9F}}));
  }
}

TEST_F(ScaleProducts, ANumberForEachColumnOfWhatWasMovedStays) {
  const Value row = weight("row", {2}, {2, 3});
  outputs({onnx.mul(heads(onnx.matmul(x, w)), row)});
  EXPECT_FALSE(run(kScaleProducts, foreign));
  EXPECT_EQ(reason(), "what is scaled by columns was moved");
}

TEST_F(ScaleProducts, NumbersForMoreColumnsThanThereAreStay) {
  outputs(
      {onnx.mul(onnx.matmul(x, weight("v", {2, 1}, {1, 2})), weight("row", {4}, {1, 2, 3, 4}))});
  EXPECT_FALSE(run(kScaleProducts, foreign));
}

TEST_F(ScaleProducts, NumbersThatEndProductsStay) {
  const Value row = weight("row", {4}, {1, 2, 3e30F, 4});
  const Value quotients = weight("quotients", {4}, {1, 2, 0, 4});
  outputs({onnx.mul(onnx.matmul(x, w), row),
           onnx.div(onnx.matmul(x, weight("v", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})), quotients)});
  EXPECT_FALSE(run(kScaleProducts, foreign));
}

TEST_F(ScaleProducts, WhatOthersReadStays) {
  const Value product = onnx.matmul(x, w);
  outputs({product, onnx.mul(product, onnx.scalar(2, onnx::DType::kFloat32))});
  EXPECT_FALSE(run(kScaleProducts, foreign));
}

TEST_F(ScaleProducts, WeightsThatOthersReadStay) {
  outputs({onnx.mul(onnx.matmul(x, w), onnx.scalar(2, onnx::DType::kFloat32)), onnx.add(w, bias)});
  EXPECT_FALSE(run(kScaleProducts, foreign));
}

TEST_F(ScaleProducts, NeitherZeroNorWhatMightOverflow) {
  outputs({onnx.mul(onnx.matmul(x, w), onnx.scalar(0, onnx::DType::kFloat32)),
           onnx.mul(onnx.matmul(input("y", {b, 2}), weight("v", {2, 1}, {1, 2})),
                    onnx.scalar(1e30, onnx::DType::kFloat32))});
  EXPECT_FALSE(run(kScaleProducts, foreign));
}

TEST_F(ScaleProducts, AProgramKeepsItsWeights) {
  outputs({onnx.mul(onnx.matmul(x, w), onnx.scalar(2, onnx::DType::kFloat32))});
  EXPECT_FALSE(run(kScaleProducts));
}

TEST_F(ScaleProducts, MoreAxesThanTheProductStay) {
  outputs({onnx.mul(onnx.matmul(x, w), weight("two", {1, 1, 1, 1}, {2}))});
  EXPECT_FALSE(run(kScaleProducts, foreign));
}

}  // namespace
}  // namespace sardonyx::passes

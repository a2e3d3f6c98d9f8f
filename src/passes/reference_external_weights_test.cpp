#include "onnx/graph/recipe.h"
#include "passes/passes.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Tensor;
using onnx::Value;

class LeaveInFiles : public RulesTest {
 protected:
  std::int64_t run(bool stays = true) {
    const std::int64_t count =
        reference_external_weights(model, [&](const Tensor&) { return stays; });
    onnx::verify(model);
    return count;
  }

  // A weight that passes have changed.
  Value made(std::string name, Tensor tensor) {
    return model.add_weight(std::move(name), std::move(tensor));
  }

  static Tensor counting(std::vector<std::int64_t> dims) {
    std::vector<float> values;
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) count *= dim;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
    return Tensor::of_bytes(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
  }
};

TEST_F(LeaveInFiles, AxesInAnotherOrderAreTurnedByANode) {
  const Value x = input("x", {b, 3});
  const Value w = made("w", onnx::permuted(counting({2, 3}), {1, 0}));
  outputs({onnx.matmul(x, w)});
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(ops(), "Transpose MatMul");
  EXPECT_EQ(type(w), "float32[2, 3]");
  EXPECT_EQ(type(model.graph->first->outputs[0]), "float32[3, 2]");
  EXPECT_EQ(reals(w.info()), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(run(), 0);
}

TEST_F(LeaveInFiles, TheOrderIsThatOfAllStepsAndOnesMayStandAnywhere) {
  const Value x = input("x", {4, 1, 2, 3});
  Tensor tensor = onnx::permuted(counting({2, 3, 4}), {2, 0, 1});
  tensor = onnx::with_dims(tensor, {4, 1, 2, 3}).value();
  const std::vector<double> before = tensor.reals().value();
  const Value w = made("w", tensor);
  outputs({onnx.add(x, w)});
  EXPECT_EQ(run(), 1);
  const onnx::Node* node = model.graph->first;
  ASSERT_EQ(node->op_type, "Transpose");
  EXPECT_EQ(onnx::permuted(*w.info()->constant, *node->ints("perm")).reals(), before);
  EXPECT_EQ(type(node->outputs[0]), "float32[4, 1, 2, 3]");
}

TEST_F(LeaveInFiles, OtherTypesAreCast) {
  const Value x = input("x", {b, 3}, DType::kFloat16);
  const std::vector<std::byte> bytes(12);
  const Tensor stored = Tensor::of_bytes(DType::kBFloat16, {2, 3}, bytes);
  Tensor wide = onnx::cast_with_offset(stored, DType::kFloat32, 0);
  const Value w =
      made("w", onnx::permuted(onnx::cast_with_offset(wide, DType::kFloat16, 0), {1, 0}));
  outputs({onnx.matmul(x, w)});
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(ops(), "Cast Cast Transpose MatMul");
  EXPECT_EQ(type(w), "bfloat16[2, 3]");
  EXPECT_EQ(type(model.graph->first->outputs[0]), "float32[2, 3]");
}

TEST_F(LeaveInFiles, WhatIsComputedOrAPartOrHandedOutStays) {
  const Value x = input("x", {b, 3});
  const Value halved =
      made("halved", onnx::scaled(counting({3, 3}), {.factors = {0.5}, .inner = 9}));
  Tensor part = counting({3, 4});
  part.dims = {3, 3};
  part.strides = {4, 1};
  Tensor repeated = counting({3});
  repeated.dims = {3, 3};
  repeated.strides = {0, 1};
  const Value narrowed = made("part", part), expanded = made("repeated", repeated);
  const Value out = made("out", onnx::permuted(counting({2, 3}), {1, 0}));
  Value y = x;
  for (const Value each : {halved, narrowed, expanded}) y = onnx.matmul(y, each);
  outputs({y, out});
  EXPECT_EQ(run(), 0);
}

TEST_F(LeaveInFiles, WhatIsInNoneOfTheFilesStays) {
  const Value x = input("x", {b, 3});
  outputs({onnx.matmul(x, made("w", onnx::permuted(counting({2, 3}), {1, 0})))});
  EXPECT_EQ(run(false), 0);
  EXPECT_EQ(ops(), "MatMul");
}

}  // namespace
}  // namespace sardonyx::passes

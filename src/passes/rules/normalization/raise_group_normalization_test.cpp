#include "passes/rules/normalization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;
using symbolic::Expr;

class RaiseGroupNormalization : public RulesTest {
 protected:
  Value image = input("image", {b, 4, s});

  Value filled(std::int64_t count, double value) {
    return onnx.constant(onnx::Tensor::filled(DType::kFloat32, {count}, value));
  }
  Value grouped(const onnx::Shape& shape) {
    const Value groups = onnx.reshape(image, shape);
    return onnx.instance_normalization(groups, filled(2, 1), filled(2, 0), {});
  }
  Value plain() {
    return onnx.group_normalization(image, filled(4, 1), filled(4, 0), {.num_groups = 2});
  }
};

TEST_F(RaiseGroupNormalization, OfGroupsAsInstances) {
  outputs({onnx.reshape(grouped({b, 2, s * Expr(2)}), {b, 4, s})});
  EXPECT_TRUE(run(kRaiseGroupNormalization));
  EXPECT_EQ(ops(), "GroupNormalization");
  EXPECT_EQ(model.graph->first->int_or("num_groups", 0), 2);
}

TEST_F(RaiseGroupNormalization, AnotherShapeStays) {
  outputs({onnx.reshape(grouped({b, 2, s * Expr(2)}), {b, 2, s * Expr(2)}),
           onnx.reshape(grouped({b * Expr(2), 2, s}), {b, 4, s})});
  EXPECT_FALSE(run(kRaiseGroupNormalization));
}

using AffineGroupNormalization = RaiseGroupNormalization;

TEST_F(AffineGroupNormalization, TakesANumberAChannel) {
  const Value w = weight("w", {4, 1}, {1, 2, 3, 4}), shift = weight("b", {1, 4, 1}, {4, 3, 2, 1});
  outputs({onnx.add(onnx.mul(plain(), w), shift)});
  EXPECT_TRUE(run(kAffineGroupNormalization));
  EXPECT_EQ(ops(), "Squeeze Squeeze GroupNormalization");
  EXPECT_EQ(model.graph->last->input(1)->shape.size(), 1U);
}

TEST_F(AffineGroupNormalization, DeclinesANumberAPlace) {
  outputs({onnx.add(onnx.mul(plain(), weight("w", {4, 1}, {1, 2, 3, 4})), image)});
  EXPECT_FALSE(run(kAffineGroupNormalization));
  EXPECT_EQ(reason(), "scale and bias are not one number a channel");
}

}  // namespace
}  // namespace sardonyx::passes

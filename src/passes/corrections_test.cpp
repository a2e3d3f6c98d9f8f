#include "passes/corrections.h"

#include "passes/passes.h"
#include "passes/rules_test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;
using symbolic::Expr;

TEST_F(RulesTest, ATurnedBatchOfFloat16StaysApartFromTheProduct) {
  const Value x = input("x", {b, s, 3}, DType::kFloat16);
  const Value w = onnx.constant(onnx::Tensor::filled(DType::kFloat16, {3, 2}, 1));
  const Value y = onnx.matmul(onnx.transpose(x, {1, 0, 2}), w);
  const std::string name = y->name;
  outputs({y});
  EXPECT_TRUE(run(part_transposes));
  EXPECT_EQ(ops(), "Transpose Unsqueeze MatMul Squeeze");
  EXPECT_EQ(model.graph->outputs[0]->name, name);
  EXPECT_FALSE(run(part_transposes));
}

TEST_F(RulesTest, OtherTransposesStayAtTheProduct) {
  const Value x = input("x", {b, 3, s}, DType::kFloat16), z = input("z", {b, s, 3});
  const Value w = onnx.constant(onnx::Tensor::filled(DType::kFloat16, {3, 2}, 1));
  outputs({onnx.matmul(onnx.transpose(x, {0, 2, 1}), w),
           onnx.matmul(onnx.transpose(z, {1, 0, 2}), weight("v", {3, 1}, {1, 2, 3}))});
  EXPECT_FALSE(run(part_transposes));
}

// DequantizeLinear of a square weight with a scale for each entry along `axis`.
struct ScalesTest : RulesTest {
  Value dequantized(std::int64_t axis) {
    const Value q = input("q", {2, 2}, DType::kInt8), zero = input("zero", {2}, DType::kInt8);
    return onnx.dequantize_linear(q, weight("scale", {2}, {0.5, 2}), zero, {.axis = axis});
  }
};

TEST_F(ScalesTest, ScalesOfAnotherAxisThanTheChannelsAreSpeltOut) {
  outputs({onnx.matmul(input("x", {b, 2}), dequantized(0))});
  EXPECT_TRUE(run(spell_out_scales));
  EXPECT_EQ(ops(), "Cast Cast Unsqueeze Sub Unsqueeze Mul MatMul");
}

TEST_F(ScalesTest, ATransposeMovesTheAxis) {
  outputs({onnx.matmul(input("x", {b, 2}), onnx.transpose(dequantized(1), {1, 0}))});
  EXPECT_TRUE(run(spell_out_scales));
  EXPECT_EQ(ops(), "Cast Cast Sub Mul Transpose MatMul");
}

TEST_F(ScalesTest, ScalesOfChannelsStay) {
  const Value w = dequantized(0), x = input("x", {b, 2});
  outputs(
      {onnx.matmul(x, onnx.transpose(w, {1, 0})), onnx.gemm(x, w, {}, {.transB = 1}), onnx.neg(w)});
  EXPECT_FALSE(run(spell_out_scales));
}

TEST_F(ScalesTest, WeightsBesideRealNumbersAreSpeltOut) {
  const Value q = onnx.constant(onnx::Tensor::filled(DType::kInt8, {2, 2}, 3));
  const Value scale = onnx.scalar(0.5, DType::kFloat32), zero = onnx.scalar(1, DType::kInt8);
  const Value x = input("x", {b, 3, 2}), w = onnx.dequantize_linear(q, scale, zero);
  const Value steps = onnx.quantize_linear(x, scale, zero);
  const Value rounded = onnx.dequantize_linear(steps, scale, zero);
  outputs({onnx.matmul(rounded, w)});
  EXPECT_FALSE(run(spell_out_weights));
  outputs({onnx.matmul(rounded, w), onnx.matmul(x, onnx.transpose(w, {1, 0}))});
  EXPECT_TRUE(run(spell_out_weights));
  EXPECT_EQ(ops(), "Cast Cast Sub Mul QuantizeLinear DequantizeLinear MatMul Transpose MatMul");
}

TEST_F(ScalesTest, FactorsBesideUnsignedOnesBecomeUnsigned) {
  const Value scale = onnx.scalar(0.5, DType::kFloat32);
  const Value signed_zero = onnx.scalar(-3, DType::kInt8);
  const Value unsigned_zero = onnx.scalar(3, DType::kUInt8);
  const std::vector<std::byte> bytes = {std::byte{0x80}, std::byte{0xFF}, std::byte{0x00},
                                        std::byte{0x7F}};
  const Value q = model.add_weight("w", onnx::Tensor::of_bytes(DType::kInt8, {2, 2}, bytes));
  const Value w = onnx.dequantize_linear(q, scale, signed_zero);
  const Value x = onnx.dequantize_linear(input("x", {b, 2}, DType::kUInt8), scale, unsigned_zero);
  const Value y = onnx.dequantize_linear(input("y", {b, 2}, DType::kInt8), scale, signed_zero);
  const auto unsigned_in = [this](bool keep_weights) {
    const bool changed = unsigned_factors(model, keep_weights);
    onnx::verify(model);
    return changed;
  };
  outputs({onnx.matmul(y, w)});
  EXPECT_FALSE(unsigned_in(false));
  const Value rows = onnx.reshape(x, {Expr(1), b, Expr(2)});
  outputs({onnx.matmul(rows, onnx.transpose(w, {1, 0}))});
  EXPECT_TRUE(unsigned_in(false));
  EXPECT_EQ(Value(w->producer->input(0)).ints(), (std::vector<std::int64_t>{0, 127, 128, 255}));
  EXPECT_EQ(Value(w->producer->input(2)).ints(), (std::vector<std::int64_t>{125}));
  EXPECT_FALSE(unsigned_in(false));
}

TEST_F(ScalesTest, FactorsWithoutDataBecomeUnsignedAtRunTime) {
  const Value x =
      onnx.dequantize_linear(input("x", {b, 2}, DType::kUInt8), onnx.scalar(0.5, DType::kFloat32),
                             onnx.scalar(3, DType::kUInt8));
  outputs({onnx.matmul(x, dequantized(1))});
  EXPECT_TRUE(unsigned_factors(model, false));
  onnx::verify(model);
  EXPECT_EQ(ops(), "DequantizeLinear Cast Add Cast Cast Add Cast DequantizeLinear MatMul");
}

}  // namespace
}  // namespace sardonyx::passes

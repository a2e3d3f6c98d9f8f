#include <gtest/gtest.h>

#include "passes/passes.h"
#include "passes/rules_test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;
using symbolic::Expr;

class RulesTest : public testing::Test, public RuleGraph {
 protected:
  Expr b = pool->symbol("b"), s = pool->symbol("s");

  static std::vector<double> reals(const onnx::ValueInfo* value) {
    return value->constant->reals().value();
  }
};

TEST_F(RulesTest, IdentityGoesAndTheOutputKeepsItsName) {
  const Value x = input("x", {b, 4});
  const Value last = onnx.identity(onnx.exp(onnx.identity(x)));
  model.rename(last.info(), "result");
  outputs({last});
  EXPECT_TRUE(run(drop_identity));
  EXPECT_EQ(ops(), "Exp");
  EXPECT_EQ(model.graph->outputs[0]->name, "result");
  EXPECT_FALSE(run(drop_identity));
}

TEST_F(RulesTest, IdentityStaysBetweenAnInputAndAnOutput) {
  const Value x = input("x", {b, 4});
  const Value y = onnx.exp(x);
  outputs({onnx.identity(x), y, onnx.identity(y)});
  EXPECT_FALSE(run(drop_identity));
  EXPECT_EQ(ops(), "Exp Identity Identity");
}

TEST_F(RulesTest, DropoutAtWorkStays) {
  const Value x = input("x", {b, 4});
  const Value off = onnx.node("", "Dropout", std::vector<Value>{x}, {}, 1)[0];
  const Value on = onnx.node(
      "", "Dropout",
      std::vector<Value>{x, onnx.scalar(0.5, DType::kFloat32), onnx.bool_scalar(true)}, {}, 1)[0];
  outputs({onnx.add(off, on)});
  EXPECT_TRUE(run(drop_identity));
  EXPECT_EQ(ops(), "Dropout Add");
}

TEST_F(RulesTest, BatchNormGoesIntoConv) {
  const Value x = input("x", {b, 1, 4});
  const Value w = weight("w", {2, 1, 1}, {1, 2}), bias = weight("bias", {2}, {1, 1});
  const Value y = onnx.batch_normalization(
      onnx.conv(x, w, bias), weight("scale", {2}, {4, 3}), weight("shift", {2}, {10, 20}),
      weight("mean", {2}, {0.5F, 0}), weight("variance", {2}, {4, 9}), {.epsilon = 0.0F});
  const std::string name = y->name;
  outputs({y});
  EXPECT_TRUE(run(fold_batch_norm));
  EXPECT_EQ(ops(), "Conv");
  EXPECT_EQ(model.graph->outputs[0]->name, name);
  const onnx::Node* conv = model.graph->first;
  EXPECT_EQ(reals(conv->input(1)), (std::vector<double>{2, 2}));
  EXPECT_EQ(reals(conv->input(2)), (std::vector<double>{11, 21}));
  EXPECT_TRUE(w->is_folded);
}

TEST_F(RulesTest, BatchNormFollowsTheChannelsOfGroupedTransposedConvolution) {
  const Value x = input("x", {b, 2, 4});
  // [inputs 2, outputs a group 2, 1], two groups: channels 0 1 | 2 3.
  const Value w = weight("w", {2, 2, 1}, {1, 1, 1, 1});
  const Value ones = weight("ones", {4}, {1, 1, 1, 1}), zeros = weight("zeros", {4}, {0, 0, 0, 0});
  outputs({onnx.batch_normalization(onnx.conv_transpose(x, w, Value(), {.group = 2}),
                                    weight("scale", {4}, {1, 2, 3, 4}), zeros, zeros, ones,
                                    {.epsilon = 0.0F})});
  EXPECT_TRUE(run(fold_batch_norm));
  EXPECT_EQ(ops(), "ConvTranspose");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(RulesTest, BatchNormStaysWhereTheConvolutionIsReadTwice) {
  const Value x = input("x", {b, 1, 4});
  const Value y = onnx.conv(x, weight("w", {2, 1, 1}, {1, 2}), Value());
  const Value ones = weight("ones", {2}, {1, 1});
  outputs({onnx.add(y, onnx.batch_normalization(y, ones, ones, ones, ones))});
  EXPECT_FALSE(run(fold_batch_norm));
}

TEST_F(RulesTest, ScaleAndShiftByChannelGoIntoConv) {
  const Value x = input("x", {b, 1, 4});
  const Value y = onnx.conv(x, weight("w", {2, 1, 1}, {1, 2}), Value());
  const Value scaled = onnx.mul(weight("scale", {1, 2, 1}, {10, 100}), y);
  outputs({onnx.add(scaled, weight("shift", {2, 1}, {3, 4}))});
  EXPECT_TRUE(run(fold_channel_affine));
  EXPECT_EQ(ops(), "Conv");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{10, 200}));
  EXPECT_EQ(reals(model.graph->first->input(2)), (std::vector<double>{3, 4}));
}

TEST_F(RulesTest, AScaleAlongAnotherAxisStays) {
  const Value x = input("x", {b, 1, 2});
  const Value y = onnx.conv(x, weight("w", {2, 1, 1}, {1, 2}), Value());
  outputs({onnx.mul(y, weight("scale", {2}, {10, 100}))});
  EXPECT_FALSE(run(fold_channel_affine));
}

TEST_F(RulesTest, AnUnsqueezedWeightTakesItsDims) {
  const Value w = weight("w", {2}, {1, 2});
  outputs({onnx.mul(input("x", {b, 2, 4}), onnx.unsqueeze(w, {1}))});
  EXPECT_TRUE(run(reshape_weights));
  EXPECT_EQ(ops(), "Mul");
  EXPECT_EQ(w->constant->dims, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(w->weight_dims, std::vector<std::int64_t>{2});
}

TEST_F(RulesTest, AWeightOfTwoShapesStays) {
  const Value w = weight("w", {2}, {1, 2});
  const Value x = input("x", {b, 2, 2});
  outputs({onnx.add(onnx.mul(x, onnx.unsqueeze(w, {1})), w)});
  EXPECT_FALSE(run(reshape_weights));
}

TEST_F(RulesTest, SmallWeightsAreComputedWith) {
  const Value w = weight("w", {2}, {4, 16});
  outputs({onnx.mul(input("x", {b, 2}), onnx.reciprocal(onnx.sqrt(w)))});
  EXPECT_TRUE(run(fold_weights));
  EXPECT_EQ(ops(), "Mul");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{0.5, 0.25}));
  EXPECT_TRUE(w->is_folded);
}

TEST_F(RulesTest, WeightsThatAreReadTwiceOrOnlyMovedStay) {
  const Value tied = weight("tied", {2}, {4, 16}), moved = weight("moved", {2, 2}, {1, 2, 3, 4});
  const Value x = input("x", {b, 2});
  outputs({onnx.mul(onnx.mul(x, tied), onnx.sqrt(tied)),
           onnx.matmul(x, onnx.transpose(moved, {1, 0}))});
  EXPECT_FALSE(run(fold_weights));
}

TEST_F(RulesTest, ZerosAroundAConvolutionAreItsPads) {
  const Value x = input("x", {b, 1, 4});
  const Value wide = onnx.pad(x, onnx.ints({0, 0, 1, 0, 0, 2}));
  outputs({onnx.conv(wide, weight("w", {1, 1, 1}, {1}), Value(), {.pads = {3, 3}})});
  EXPECT_TRUE(run(fold_pad));
  EXPECT_EQ(ops(), "Conv");
  EXPECT_EQ(*model.graph->first->ints("pads"), (std::vector<std::int64_t>{4, 5}));
}

TEST_F(RulesTest, OtherPadsStay) {
  const Value x = input("x", {b, 1, 4});
  const Value w = weight("w", {1, 2, 1}, {1, 1}), v = weight("v", {1, 1, 1}, {1});
  const Value channels = onnx.pad(x, onnx.ints({0, 1, 0, 0, 0, 0}));
  const Value ones = onnx.pad(x, onnx.ints({0, 0, 1, 0, 0, 1}), onnx.scalar(1, DType::kFloat32));
  const Value cut = onnx.pad(x, onnx.ints({0, 0, -1, 0, 0, 0}));
  outputs(
      {onnx.conv(channels, w, Value()), onnx.conv(ones, v, Value()), onnx.conv(cut, v, Value())});
  EXPECT_FALSE(run(fold_pad));
}

TEST_F(RulesTest, ATransposedWeightIsTurnedInPlace) {
  const Value w = weight("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  outputs({onnx.matmul(input("x", {b, s, 3}), onnx.transpose(w, {1, 0}))});
  EXPECT_TRUE(run(transpose_weights));
  EXPECT_EQ(ops(), "MatMul");
  EXPECT_EQ(w->constant->dims, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(reals(w.info()), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(w->weight_axes, (std::vector<std::int64_t>{1, 0}));
}

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

TEST_F(RulesTest, ATiedWeightIsNotTurned) {
  const Value w = weight("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  const Value row = onnx.gather(w, input("i", {b}, DType::kInt64), {.axis = 0});
  outputs({onnx.matmul(row, onnx.transpose(w, {1, 0}))});
  EXPECT_FALSE(run(transpose_weights));
  EXPECT_EQ(ops(), "Gather Transpose MatMul");
}

TEST_F(RulesTest, AMaskReadByRangesIsUnsqueezed) {
  const Value mask = input("mask", {b, s}, DType::kBool);
  const auto count = [&](Expr size) {
    return onnx.range(onnx.int_scalar(0), onnx.size(size), onnx.int_scalar(1));
  };
  const auto index = [&](Value range, std::initializer_list<std::int64_t> axes) {
    return onnx.unsqueeze(onnx.expand(onnx.unsqueeze(range, axes), onnx::Shape{b, 1, 1, s}), {4});
  };
  const Value indices = onnx.concat({index(count(b), {1, 2, 3}), index(count(s), {0, 1, 2})}, 4);
  outputs({onnx.not_(onnx.gather_nd(mask, indices))});
  EXPECT_TRUE(run(index_by_ranges));
  EXPECT_EQ(ops(), "Unsqueeze Not");
  EXPECT_EQ(type(model.graph->first->output()), "bool[b, 1, 1, s]");
}

TEST_F(RulesTest, GemmOfFlattenedRowsBecomesMatMul) {
  const Value x = input("x", {b, s, 3});
  const Value w = weight("w", {3, 2}, {1, 2, 3, 4, 5, 6}), c = weight("c", {2}, {1, 2});
  const Value rows = onnx.reshape(x, {b * s, Expr(3)});
  const Value y = onnx.reshape(onnx.gemm(rows, w, c), {b, s, Expr(2)});
  outputs({y});
  const std::string name = y->name;
  EXPECT_TRUE(run(unflatten_gemm));
  EXPECT_EQ(ops().substr(ops().size() - 10), "MatMul Add");
  EXPECT_EQ(model.graph->outputs[0]->name, name);
}

TEST_F(RulesTest, AScaledGemmStays) {
  const Value x = input("x", {b, s, 3});
  const Value w = weight("w", {3, 2}, {1, 2, 3, 4, 5, 6}), c = weight("c", {2}, {1, 2});
  const Value rows = onnx.reshape(x, {b * s, Expr(3)});
  outputs({onnx.reshape(onnx.gemm(rows, w, c, {.alpha = 2.0F}), {b, s, Expr(2)})});
  EXPECT_FALSE(run(unflatten_gemm));
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

TEST_F(RulesTest, PartsSideBySideAreSplit) {
  const Value x = input("x", {b, 16});
  const Value low = onnx.slice(x, 1, 0, 6), high = onnx.slice(x, 1, 6, 16);
  const std::string name = low->name;
  outputs({onnx.neg(high), low});
  EXPECT_TRUE(run(split_slices));
  EXPECT_EQ(ops(), "Split Neg");
  EXPECT_EQ(model.graph->outputs[1]->name, name);
  EXPECT_EQ(type(model.graph->first->output(1)), "float32[b, 10]");
}

TEST_F(RulesTest, PartsWithAGapAreNotSplit) {
  const Value x = input("x", {b, 16});
  outputs({onnx.slice(x, 1, 0, 6), onnx.slice(x, 1, 7, 16)});
  EXPECT_FALSE(run(split_slices));
}

}  // namespace
}  // namespace sardonyx::passes

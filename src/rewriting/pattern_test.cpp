#include "rewriting/pattern.h"

#include "rewriting/test_graph.h"

namespace sardonyx::rewriting {
namespace {

using namespace pattern;
using onnx::DType;
using onnx::Node;
using onnx::Op;
using onnx::Value;

enum { kA, kB, kC, kFactor };

class PatternTest : public RulesTest {
 protected:
  Options options;
  RuleContext context{model, options, report};
  Value x = input("x", {b, 4}), y = input("y", {b, 4}), z = input("z", {b, 4});

  template <std::size_t N>
  std::optional<Match> find(const Pattern<N>& pattern, Value root) {
    if (root->returns.empty()) outputs({root});
    return match(pattern, root->producer, context);
  }
};

constexpr auto kSumOfAProduct = op(Op::kAdd, any(kC), op(Op::kMul, any(kA), any(kB)));

TEST_F(PatternTest, OperandsStandEitherWayRound) {
  const auto found = find(kSumOfAProduct, onnx.add(onnx.mul(x, y), z));
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[kC], z.info());
  EXPECT_TRUE(find(kSumOfAProduct, onnx.add(x, onnx.mul(y, z))));
  EXPECT_FALSE(find(kSumOfAProduct, onnx.sub(y, onnx.mul(x, z))));
}

TEST_F(PatternTest, WhatIsNamedTwiceIsOneValue) {
  constexpr auto kShare = op(Op::kAdd, op(Op::kMul, any(kA), any(kB)), any(kA));
  // The emitter shares equal nodes, so that each graph has factors of its own. Whichever factor is
  // tried first, the other one is tried as well.
  EXPECT_TRUE(find(kShare, onnx.add(onnx.mul(x, y), x)));
  EXPECT_TRUE(find(kShare, onnx.add(onnx.mul(y, z), z)));
  EXPECT_FALSE(find(kShare, onnx.add(onnx.mul(x, z), y)));
  constexpr auto kSquare = op(Op::kMul, any(kA), any(kA));
  EXPECT_TRUE(find(kSquare, onnx.mul(x, x)));
  EXPECT_FALSE(find(kSquare, onnx.mul(x, y)));
}

TEST_F(PatternTest, ThreeFactorsStandForAnyNesting) {
  constexpr auto kScaled = op(Op::kMul, any(kA), number(kFactor), op(Op::kTanh, any(kA)));
  const auto two = [&] { return onnx.scalar(2, DType::kFloat32); };
  const auto found = find(kScaled, onnx.mul(onnx.mul(x, onnx.tanh(x)), two()));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->real(kFactor), 2);
  EXPECT_TRUE(find(kScaled, onnx.mul(y, onnx.mul(two(), onnx.tanh(y)))));
  EXPECT_FALSE(find(kScaled, onnx.mul(onnx.mul(x, onnx.tanh(z)), two())));
}

TEST_F(PatternTest, NumbersAreAsExactAsTheirType) {
  constexpr auto kThird = op(Op::kMul, any(kA), is_number(1.0 / 3));
  EXPECT_TRUE(find(kThird, onnx.mul(x, onnx.scalar(1.0 / 3, DType::kFloat32))));
  EXPECT_FALSE(find(kThird, onnx.mul(x, onnx.scalar(0.3334, DType::kFloat32))));
  const Value h = input("h", {b}, DType::kFloat16);
  EXPECT_TRUE(find(kThird, onnx.mul(h, onnx.scalar(1.0 / 3, DType::kFloat16))));
}

TEST_F(PatternTest, AlternativesAreAllTried) {
  constexpr auto kEither =
      op(Op::kMul, any(kB), either(op(Op::kTanh, any(kA)), op(Op::kSigmoid, any(kA))));
  EXPECT_TRUE(find(kEither, onnx.mul(onnx.sigmoid(x), y)));
  EXPECT_FALSE(find(kEither, onnx.mul(onnx.exp(x), y)));
}

TEST_F(PatternTest, AnOperatorMayBeThereOrNot) {
  constexpr auto kOptional = op(Op::kAbs, optional(Op::kTanh, any(kA)));
  EXPECT_EQ((*find(kOptional, onnx.abs(x)))[kA], x.info());
  EXPECT_EQ((*find(kOptional, onnx.abs(onnx.tanh(x))))[kA], x.info());
  // What others read is not what is left out, but what is there.
  const Value bounded = onnx.tanh(y), root = onnx.abs(bounded);
  outputs({root, bounded});
  EXPECT_EQ((*match(kOptional, root->producer, context))[kA], bounded.info());
}

TEST_F(PatternTest, WhatIsReadElsewhereIsNoPartOfIt) {
  const Value product = onnx.mul(x, y), root = onnx.add(product, z);
  outputs({root, onnx.neg(product)});
  EXPECT_FALSE(match(kSumOfAProduct, root->producer, context));
  EXPECT_EQ(reason(), "'Mul' is read elsewhere, too");
  constexpr auto kShared = op(Op::kAdd, any(kC), shared(op(Op::kMul, any(kA), any(kB))));
  EXPECT_TRUE(match(kShared, root->producer, context));
}

TEST_F(PatternTest, OptionalInputsAreNamed) {
  constexpr auto kFloor = op(Op::kClip, any(kA), number(kFactor));
  constexpr auto kCeiling = op(Op::kClip, any(kA), none(), number(kFactor));
  const Value zero = onnx.scalar(0, DType::kFloat32);
  const auto clip = [&](std::vector<Value> inputs) {
    return onnx.node("", "Clip", inputs, {}, 1)[0];
  };
  EXPECT_TRUE(find(kFloor, clip({x, zero})));
  EXPECT_FALSE(find(kFloor, clip({x, zero, zero})));
  EXPECT_FALSE(find(kCeiling, clip({x, zero})));
  EXPECT_TRUE(find(kCeiling, clip({x, Value(), zero})));
}

}  // namespace
}  // namespace sardonyx::rewriting

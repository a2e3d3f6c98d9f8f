#include <array>
#include <cstdint>
#include <limits>

#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

constexpr std::array<std::int64_t, 1> kLastAxis = {3};

class RaiseAttention : public RulesTest {
 protected:
  Value scores(double scale = 0.5) {
    return onnx.mul(onnx.matmul(q, onnx.transpose(k, {0, 1, 3, 2})),
                    onnx.scalar(scale, DType::kFloat32));
  }
  Value attended(Value of_scores) { return onnx.matmul(onnx.softmax(of_scores, {.axis = -1}), v); }
  // What is added where a key is hidden.
  Value hidden_by(double value) {
    const Value seen = input("seen", {b, 1, s, s}, DType::kBool);
    return onnx.where(seen, onnx.zero(DType::kFloat32), onnx.scalar(value, DType::kFloat32));
  }
  const onnx::Node* last() const { return model.graph->last; }

  Value q = input("q", {b, 2, s, 4}), k = input("k", {b, 2, s, 4}), v = input("v", {b, 2, s, 6});
};

TEST_F(RaiseAttention, ScaleAndMaskAreTaken) {
  const Value mask = hidden_by(-1e30);
  outputs({attended(onnx.add(scores(), mask))});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Where Attention");
  EXPECT_EQ(last()->input(0), q.info());
  EXPECT_EQ(last()->input(1), k.info());
  EXPECT_EQ(last()->input(2), v.info());
  EXPECT_EQ(last()->input(3), mask.info());
  EXPECT_EQ(last()->float_or("scale", 0), 0.5F);
}

TEST_F(RaiseAttention, FactorsOfQueryAndKeysAreOneScale) {
  const Value root = onnx.scalar(0.25, DType::kFloat32);
  const Value keys = onnx.mul(onnx.transpose(k, {0, 1, 3, 2}), root);
  const Value product = onnx.matmul(onnx.mul(q, root), keys);
  outputs({attended(onnx.div(product, onnx.scalar(2, DType::kFloat32)))});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Attention");
  EXPECT_EQ(last()->float_or("scale", 0), 0.03125F);
}

TEST_F(RaiseAttention, CappedScoresAreSo) {
  const Value cap = onnx.scalar(50, DType::kFloat32), mask = hidden_by(-1e30);
  outputs({attended(onnx.add(onnx.mul(onnx.tanh(onnx.div(scores(), cap)), cap), mask))});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Where Attention");
  EXPECT_EQ(last()->float_or("scale", 0), 0.5F);
  EXPECT_EQ(last()->float_or("softcap", 0), 50.0F);
}

TEST_F(RaiseAttention, ANumberForHiddenScoresIsAMask) {
  const Value seen = input("seen", {b, 1, s, s}, DType::kBool);
  const Value low = onnx.scalar(-1e4, DType::kFloat32);
  outputs({attended(onnx.where(seen, scores(), low))});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Where Attention");
  EXPECT_EQ(model.graph->first->input(0), seen.info());
  EXPECT_EQ(reals(model.graph->first->input(1)).front(), 0);
  EXPECT_EQ(reals(model.graph->first->input(2)).front(), std::numeric_limits<float>::lowest());
}

TEST_F(RaiseAttention, LayersHaveOneMask) {
  const Value hidden = input("hidden", {1, 1, s, s}, DType::kBool);
  const Value low = onnx.scalar(-3e38, DType::kFloat32), mask = this->hidden_by(-3e38);
  const auto layer = [&](Value x) {
    const Value of_x = onnx.matmul(x, onnx.transpose(k, {0, 1, 3, 2}));
    const Value masked = onnx.where(hidden, low, of_x);
    return attended(onnx.add(onnx.div(masked, onnx.scalar(2, DType::kFloat32)), mask));
  };
  outputs({layer(q), layer(onnx.exp(q))});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Where Where Add Attention Exp Attention");
  EXPECT_EQ(last()->float_or("scale", 0), 0.5F);
}

TEST_F(RaiseAttention, WeightsOfHiddenKeysThatAreZero) {
  const Value hidden = input("hidden", {b, 1, 1, s}, DType::kBool);
  const Value masked = onnx.where(
      hidden, onnx.scalar(-std::numeric_limits<double>::infinity(), DType::kFloat32), scores());
  const Value weights = onnx.softmax(masked, {.axis = -1});
  outputs({onnx.matmul(onnx.where(hidden, onnx.zero(DType::kFloat32), weights), v)});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Where Attention");
}

TEST_F(RaiseAttention, ACausalMaskKeepsAKeyInEachRow) {
  const Value before = weight("before", {1, 1, 3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1});
  const Value k3 = input("k3", {b, 2, 3, 4});
  const auto masked_by = [&](Value hidden) {
    const Value s3 = onnx.matmul(input("q3", {b, 2, 3, 4}), onnx.transpose(k3, {0, 1, 3, 2}));
    const Value none = onnx.scalar(-std::numeric_limits<double>::infinity(), DType::kFloat32);
    return onnx.matmul(onnx.softmax(onnx.where(hidden, none, s3), {.axis = -1}),
                       input("v3", {b, 2, 3, 6}));
  };
  outputs({masked_by(onnx.equal(before, onnx.zero(DType::kFloat32))),
           masked_by(onnx.equal(before, onnx.scalar(1, DType::kFloat32)))});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(reason(), "a row of its mask may hide all keys, which gives NaN");
  const onnx::Node* attention = model.graph->outputs[0]->producer;
  ASSERT_TRUE(attention->is("Attention"));
  EXPECT_EQ(reals(attention->input(3)->producer->input(1)).front(),
            -double{std::numeric_limits<float>::max()});
  EXPECT_TRUE(model.graph->outputs[1]->producer->is("MatMul"));
}

TEST_F(RaiseAttention, ThePartOfACausalMaskForTheSequenceKeepsTheFirstKey) {
  const Value before = weight("before", {1, 1, 3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1});
  const Value length = onnx.sizes(onnx::Shape{s});
  const Value part = onnx.slice(onnx.slice(before, onnx.ints({0}), length, onnx.ints({2})),
                                onnx.ints({0}), length, onnx.ints({3}));
  const Value none = onnx.scalar(-std::numeric_limits<double>::infinity(), DType::kFloat32);
  const Value hidden = onnx.equal(part, onnx.zero(DType::kFloat32));
  outputs({attended(onnx.where(hidden, none, scores()))});
  EXPECT_TRUE(run(kRaiseAttention));
}

TEST_F(RaiseAttention, WeightsThatAreZeroElsewhereStay) {
  const Value hidden = input("hidden", {b, 1, 1, s}, DType::kBool);
  const Value masked = onnx.where(hidden, onnx.scalar(-1e9, DType::kFloat32), scores());
  const Value weights = onnx.softmax(masked, {.axis = -1});
  const Value others = input("others", {b, 1, 1, s}, DType::kBool);
  outputs({onnx.matmul(onnx.where(others, onnx.zero(DType::kFloat32), weights), v)});
  EXPECT_FALSE(run(kRaiseAttention));
}

TEST_F(RaiseAttention, ANumberNearTheScoresStays) {
  const Value seen = input("seen", {b, 1, s, s}, DType::kBool);
  outputs({attended(onnx.where(seen, scores(), onnx.scalar(-100, DType::kFloat32)))});
  EXPECT_FALSE(run(kRaiseAttention));
}

TEST_F(RaiseAttention, ANumberThatAMaskChangesStays) {
  const Value seen = input("seen", {b, 1, s, s}, DType::kBool);
  const Value masked = onnx.where(seen, scores(), onnx.scalar(-1e4, DType::kFloat32));
  outputs({attended(onnx.add(masked, hidden_by(-1e4)))});
  EXPECT_FALSE(run(kRaiseAttention));
}

TEST_F(RaiseAttention, AMaskUnderTheCapStays) {
  const Value cap = onnx.scalar(50, DType::kFloat32), mask = hidden_by(-1e30);
  outputs({attended(onnx.mul(onnx.tanh(onnx.div(onnx.add(scores(), mask), cap)), cap))});
  EXPECT_FALSE(run(kRaiseAttention));
}

TEST_F(RaiseAttention, KeysThatWereTurnedAtOnceAreTurnedByHeadsAlone) {
  const Value rows = input("rows", {b, s, 2, 4});
  outputs({attended(onnx.matmul(q, onnx.transpose(rows, {0, 2, 3, 1})))});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Transpose Attention");
  EXPECT_EQ(*model.graph->first->ints("perm"), (std::vector<std::int64_t>{0, 2, 1, 3}));
}

class HeadsThatShareKeys : public RaiseAttention {
 protected:
  // As the operator's definition says it, of four heads and two that they share.
  Value attended_below(const onnx::Shape& result) {
    const Value q4 = input("q4", {b, 4, s, 4});
    const Value rows = onnx.reshape(q4, {b, 2, s * symbolic::Expr(2), 4});
    const Value below = onnx.matmul(rows, onnx.transpose(k, {0, 1, 3, 2}));
    const Value weights = onnx.softmax(onnx.reshape(below, {b, 4, s, s}), {.axis = -1});
    const Value seen = onnx.matmul(onnx.reshape(weights, {b, 2, s * symbolic::Expr(2), s}), v);
    return onnx.reshape(seen, result);
  }
};

TEST_F(HeadsThatShareKeys, LieBelowOneAnother) {
  outputs({attended_below({b, 4, s, 6})});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Attention");
  EXPECT_EQ(last()->input(1), k.info());
  EXPECT_EQ(type(last()->output()), "float32[b, 4, s, 6]");
}

TEST_F(HeadsThatShareKeys, StayWhereTheyAreNotToldApartAgain) {
  outputs({attended_below({b, 2, s, 12})});
  EXPECT_FALSE(run(kRaiseAttention));
  EXPECT_EQ(reason(), "its heads are not put below one another alike");
}

TEST_F(RaiseAttention, AllHeadsMayShareOne) {
  const Value key = input("key", {b, 1, s, 4}), value = input("value", {b, 1, s, 6});
  const Value of_one = onnx.matmul(q, onnx.transpose(key, {0, 1, 3, 2}));
  outputs({onnx.matmul(onnx.softmax(of_one, {.axis = -1}), value)});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Attention");
  EXPECT_EQ(last()->input(1), key.info());
}

TEST_F(RaiseAttention, KeysOfOneHeadForValuesOfTwoStay) {
  const Value key = input("key", {b, 1, s, 4});
  outputs({attended(onnx.matmul(q, onnx.transpose(key, {0, 1, 3, 2})))});
  EXPECT_FALSE(run(kRaiseAttention));
  EXPECT_EQ(reason(), "its keys are not those of its values, head by head");
}

// [batch, groups, heads, length, size], and one head of keys and values a group.
class HeadsOfTwoAxes : public RaiseAttention {
 protected:
  // Of queries as most models part them, and the result as they join it.
  bool raises(const onnx::Shape& mask) {
    const Value rows = input("rows", {b, s, 2, 3, 4});
    const Value keys = onnx.transpose(onnx.unsqueeze(k, {2}), {0, 1, 2, 4, 3});
    Value of_scores = onnx.matmul(onnx.transpose(rows, {0, 2, 3, 1, 4}), keys);
    if (!mask.empty()) {
      const Value seen = input("seen", mask, DType::kBool);
      of_scores = onnx.where(seen, of_scores, onnx.scalar(-1e30, DType::kFloat32));
    }
    const Value weights = onnx.softmax(of_scores, {.axis = -1});
    const Value y = onnx.matmul(weights, onnx.unsqueeze(v, {2}));
    outputs({onnx.transpose(y, {0, 3, 1, 2, 4})});
    return run(kRaiseAttention);
  }
};

TEST_F(HeadsOfTwoAxes, BecomeOne) {
  EXPECT_TRUE(raises({}));
  EXPECT_EQ(ops(), "Reshape Transpose Attention Transpose Reshape");
  EXPECT_EQ(type(model.graph->outputs[0]), "float32[b, s, 2, 3, 6]");
  const onnx::Node* attention = model.graph->first->next->next;
  EXPECT_EQ(type(attention->input(0)), "float32[b, 6, s, 4]");
  EXPECT_EQ(attention->input(1), k.info());
  EXPECT_EQ(attention->input(2), v.info());
}

TEST_F(HeadsOfTwoAxes, AMaskThatIsAlikeForThemLosesOne) {
  EXPECT_TRUE(raises({b, 1, 1, 1, s}));
  EXPECT_EQ(ops(), "Where Squeeze Reshape Transpose Attention Transpose Reshape");
}

TEST_F(HeadsOfTwoAxes, StayWhereAMaskTellsThemApart) {
  EXPECT_FALSE(raises({b, 2, 1, s, s}));
  EXPECT_EQ(reason(), "its mask has other axes than its scores");
}

TEST_F(RaiseAttention, WithoutAnAxisForThemHeadsAreOne) {
  const Value q3 = input("q3", {b, s, 4}), k3 = input("k3", {b, s, 4}), v3 = input("v3", {b, s, 4});
  const Value weights = onnx.softmax(onnx.matmul(q3, onnx.transpose(k3, {0, 2, 1})), {.axis = -1});
  outputs({onnx.matmul(weights, v3)});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(ops(), "Attention");
  EXPECT_EQ(last()->int_or("q_num_heads", 0), 1);
}

TEST_F(RaiseAttention, DeclinesMasksThatMayHideARow) {
  outputs({attended(onnx.add(scores(), hidden_by(-std::numeric_limits<double>::infinity())))});
  EXPECT_FALSE(run(kRaiseAttention));
  EXPECT_EQ(reason(), "a row of its mask may hide all keys, which gives NaN");
}

TEST_F(RaiseAttention, RowsThatSeeNothingMayBeMadeZeros) {
  const Value none = onnx.scalar(-std::numeric_limits<double>::infinity(), DType::kFloat32);
  const Value mask = input("mask", {b, 1, s, s});
  const auto with_zeros = [&](Value rows) {
    return onnx.where(rows, onnx.zero(DType::kFloat32), attended(onnx.add(scores(), mask)));
  };
  const Value most = onnx.reduce("ReduceMax", mask, kLastAxis, true);
  outputs({with_zeros(onnx.equal(most, none))});
  EXPECT_TRUE(run(kRaiseAttention));
  EXPECT_EQ(last()->op_type, "Attention");
  EXPECT_EQ(last()->input(3), mask.info());
}

TEST_F(RaiseAttention, ZerosForOtherRowsStay) {
  const Value none = onnx.scalar(-std::numeric_limits<double>::infinity(), DType::kFloat32);
  const Value mask = input("mask", {b, 1, s, s}), other = input("other", {b, 1, s, s});
  const Value rows = onnx.equal(onnx.reduce("ReduceMax", other, kLastAxis, true), none);
  outputs({onnx.where(rows, onnx.zero(DType::kFloat32), attended(onnx.add(scores(), mask)))});
  EXPECT_FALSE(run(kRaiseAttention));
}

TEST_F(RaiseAttention, DeclinesMasksThatAreNotKnown) {
  outputs({attended(onnx.add(scores(), input("mask", {b, 1, s, s})))});
  EXPECT_FALSE(run(kRaiseAttention));
  EXPECT_EQ(reason(), "a row of its mask may hide all keys, which gives NaN");
}

TEST_F(RaiseAttention, WeightsThatAreReadElsewhereStay) {
  const Value weights = onnx.softmax(scores(), {.axis = -1});
  outputs({onnx.matmul(weights, v), weights});
  EXPECT_FALSE(run(kRaiseAttention));
}

TEST_F(RaiseAttention, AnotherAxisStays) {
  outputs({onnx.matmul(onnx.softmax(scores(), {.axis = 2}), v)});
  EXPECT_FALSE(run(kRaiseAttention));
}

// Masks of minus infinity that places decide.
class RaiseAttentionByPlace : public RaiseAttention {
 protected:
  Value lowest = onnx.scalar(-std::numeric_limits<double>::infinity(), DType::kFloat32);
  Value keys = onnx.unsqueeze(onnx.range(s), {0}), queries = onnx.unsqueeze(onnx.range(s), {1});

  bool raises(Value seen, Value of_scores) {
    outputs({attended(onnx.where(seen, of_scores, lowest))});
    return run(kRaiseAttention);
  }
};

TEST_F(RaiseAttentionByPlace, EachQuerySeesItself) {
  EXPECT_TRUE(raises(onnx.less_or_equal(keys, queries), scores()));
  EXPECT_TRUE(last()->is("Attention"));
}

TEST_F(RaiseAttentionByPlace, AWindowHasTheQueryItself) {
  const Value near = onnx.greater(keys, onnx.sub(queries, onnx.int_scalar(3)));
  EXPECT_TRUE(raises(onnx.and_(onnx.less_or_equal(keys, queries), near), scores()));
}

TEST_F(RaiseAttentionByPlace, TheFirstQuerySeesNothingBeforeIt) {
  EXPECT_FALSE(raises(onnx.less(keys, queries), scores()));
  EXPECT_EQ(reason(), "a row of its mask may hide all keys, which gives NaN");
}

TEST_F(RaiseAttentionByPlace, AWindowBehindTheQueryMayBeEmpty) {
  const Value behind = onnx.greater(keys, onnx.add(queries, onnx.int_scalar(1)));
  EXPECT_FALSE(raises(behind, scores()));
}

TEST_F(RaiseAttentionByPlace, NumbersAreAddedBeforeSomeAreHidden) {
  const Value slopes = onnx.cast(input("slopes", {1, 2, s, s}, DType::kInt64), DType::kFloat32);
  EXPECT_TRUE(raises(onnx.less_or_equal(keys, queries), onnx.add(scores(), slopes)));
  EXPECT_EQ(last()->float_or("scale", 0), 0.5F);
  const onnx::Node* mask = last()->input(3)->producer;
  ASSERT_TRUE(mask->is("Add"));
  EXPECT_EQ(mask->input(1), slopes.info());
}

// Minus infinity above this diagonal.
class RaiseAttentionByTriangle : public RaiseAttentionByPlace {
 protected:
  bool raises(std::int64_t diagonal) {
    const Value all = onnx.expand(lowest, std::array{s, s});
    const Value mask = onnx.trilu(all, onnx.int_scalar(diagonal), {.upper = 1});
    outputs({attended(onnx.add(scores(), mask))});
    return run(kRaiseAttention);
  }
};

TEST_F(RaiseAttentionByTriangle, TheFirstKeyIsSeen) { EXPECT_TRUE(raises(1)); }

TEST_F(RaiseAttentionByTriangle, TheFirstRowIsHidden) { EXPECT_FALSE(raises(0)); }

}  // namespace
}  // namespace sardonyx::passes

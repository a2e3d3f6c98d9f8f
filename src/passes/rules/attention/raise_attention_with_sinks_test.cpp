#include "onnx/definitions/attention.h"
#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

// Queries of four heads of 8, keys and values of two.
class RaiseAttentionWithSinks : public RulesTest {
 protected:
  symbolic::Expr t = pool->symbol("t");
  Value q = input("q", {b, 4, s, 8}), k = input("k", {b, 2, t, 8}), v = input("v", {b, 2, t, 8});
  Value sinks = input("sinks", {1, 4, 1, 1}), mask = input("mask", {b, 1, s, t});

  Value repeated(Value x) {
    return onnx.reshape(onnx.expand(onnx.unsqueeze(x, {2}), onnx::Shape{b, 2, 2, t, 8}),
                        onnx::Shape{b, 4, t, 8});
  }
  // `column` beside the scores, of which so many are dropped.
  void attend(Value keys, Value values, Value column, std::int64_t end = -1) {
    const Value scores = onnx.mul(onnx.matmul(q, onnx.swap_axes(keys, 2, 3)),
                                  onnx.scalar(0.5, onnx::DType::kFloat32));
    const Value shares =
        onnx.softmax(onnx.concat({onnx.add(scores, mask), column}, 3), {.axis = 3});
    const Value kept = onnx.slice(shares, onnx.ints({0}), onnx.ints({end}), onnx.ints({3}));
    outputs({onnx.matmul(kept, values)});
  }
  Value column() { return onnx.expand(sinks, onnx::Shape{b, 4, s, 1}); }
};

TEST_F(RaiseAttentionWithSinks, OneMoreKey) {
  attend(repeated(k), repeated(v), column());
  ASSERT_TRUE(run(kRaiseAttentionWithSinks));
  const onnx::Node* attention = model.graph->last;
  EXPECT_TRUE(attention->is(onnx::Op::kAttention));
  EXPECT_EQ(attention->float_or("scale", 0), 0.5F);
  EXPECT_EQ(type(attention->input(1)), "float32[b, 2, t + 1, 8]");
  EXPECT_EQ(type(attention->input(3)), "float32[b, 4, s, t + 1]");
  const onnx::WithSinks found = onnx::sinks_of(attention);
  EXPECT_EQ(found.key, k.info());
  EXPECT_EQ(found.value, v.info());
  EXPECT_EQ(found.mask, mask.info());
  EXPECT_EQ(found.sinks, sinks.info());
}

TEST_F(RaiseAttentionWithSinks, HeadsThatShareNothingStay) {
  k = input("k4", {b, 4, t, 8});
  v = input("v4", {b, 4, t, 8});
  attend(k, v, column());
  EXPECT_FALSE(run(kRaiseAttentionWithSinks));
  EXPECT_EQ(reason(), "its keys are not shared by groups of queries");
}

TEST_F(RaiseAttentionWithSinks, AColumnThatIsKeptStays) {
  attend(repeated(k), repeated(v), column(), -2);
  EXPECT_FALSE(run(kRaiseAttentionWithSinks));
}

TEST_F(RaiseAttentionWithSinks, ALogitOfEachQueryStays) {
  attend(repeated(k), repeated(v), input("column", {b, 4, s, 1}));
  EXPECT_FALSE(run(kRaiseAttentionWithSinks));
}

}  // namespace
}  // namespace sardonyx::passes

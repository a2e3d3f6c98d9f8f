#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseRotaryEmbedding : public RulesTest {
 protected:
  Value turned(Value of, Value cosines, Value sines) {
    const Value first = onnx.slice(of, 3, 0, 4), second = onnx.slice(of, 3, 4, 8);
    const Value half_turn = onnx.concat({onnx.neg(second), first}, -1);
    return onnx.add(onnx.mul(of, cosines), onnx.mul(half_turn, sines));
  }
  Value table(Value half) { return onnx.unsqueeze(onnx.concat({half, half}, -1), {1}); }

  Value x = input("x", {b, 2, s, 8});
  Value cosine = input("cosine", {b, s, 4}), sine = input("sine", {b, s, 4});
};

TEST_F(RaiseRotaryEmbedding, HalvesOfTheTablesAreTaken) {
  outputs({turned(x, table(cosine), table(sine))});
  EXPECT_TRUE(run(kRaiseRotaryEmbedding));
  const onnx::Node* rotation = model.graph->last;
  EXPECT_TRUE(rotation->is("RotaryEmbedding"));
  EXPECT_EQ(rotation->input(0), x.info());
}

// Halves of x that are turned, and put side by side.
class RaiseRotaryEmbeddingByHalves : public RaiseRotaryEmbedding {
 protected:
  Value put_together(std::size_t first, std::size_t second) {
    const Value c = onnx.unsqueeze(cosine, {1}), t = onnx.unsqueeze(sine, {1});
    const auto parts = onnx.split(2, x, onnx.ints({4, 4}), {.axis = 3});
    const Value less = onnx.sub(onnx.mul(parts[first], c), onnx.mul(parts[second], t));
    return onnx.concat({less, onnx.add(onnx.mul(parts[second], c), onnx.mul(parts[first], t))}, -1);
  }
};

TEST_F(RaiseRotaryEmbeddingByHalves, TheTablesHaveEachAngleOnce) {
  outputs({put_together(0, 1)});
  EXPECT_TRUE(run(kRaiseRotaryEmbedding));
  const onnx::Node* rotation = model.graph->last;
  ASSERT_TRUE(rotation->is("RotaryEmbedding"));
  EXPECT_EQ(rotation->input(0), x.info());
  EXPECT_EQ(rotation->input(1), cosine.info());
  EXPECT_EQ(rotation->input(2), sine.info());
}

TEST_F(RaiseRotaryEmbeddingByHalves, HalvesThatChangePlacesStay) {
  outputs({put_together(1, 0)});
  EXPECT_FALSE(run(kRaiseRotaryEmbedding));
}

TEST_F(RaiseRotaryEmbedding, LayersShareTheTablesOfOneBatch) {
  const Value cosines = table(input("cosines", {1, s, 4})),
              sines = table(input("sines", {1, s, 4}));
  const Value y = input("y", {b, 2, s, 8});
  outputs({turned(x, cosines, sines), turned(y, cosines, sines)});
  EXPECT_TRUE(run(kRaiseRotaryEmbedding));
  const std::string made = ops();
  EXPECT_EQ(made.find("Expand"), made.rfind("Expand", made.rfind("Expand") - 1));
  EXPECT_EQ(made.find("Shape"), made.rfind("Shape"));
}

TEST_F(RaiseRotaryEmbedding, TablesOfLengthAndSizeServeAllBatches) {
  const Value cosines = input("cosines", {s, 4}), sines = input("sines", {s, 4});
  outputs({turned(x, onnx.concat({cosines, cosines}, -1), onnx.concat({sines, sines}, -1))});
  EXPECT_TRUE(run(kRaiseRotaryEmbedding));
  EXPECT_TRUE(model.graph->last->is("RotaryEmbedding"));
}

TEST_F(RaiseRotaryEmbedding, TheSignMayBeTheTables) {
  const Value cosines = onnx.unsqueeze(cosine, {1}), sines = onnx.unsqueeze(sine, {1});
  const auto swapped = [&](Value first_table, Value second_table) {
    const Value of = input("of", {b, 2, s, 8});
    const auto halves = onnx.split(2, of, onnx.ints({4, 4}), {.axis = 3});
    return onnx.add(onnx.mul(of, onnx.concat({cosines, cosines}, -1)),
                    onnx.mul(onnx.concat({halves[1], halves[0]}, -1),
                             onnx.concat({first_table, second_table}, -1)));
  };
  outputs({swapped(onnx.neg(sines), sines), swapped(sines, onnx.neg(sines))});
  EXPECT_TRUE(run(kRaiseRotaryEmbedding));
  const onnx::Node* rotation = model.graph->outputs[0]->producer;
  ASSERT_TRUE(rotation->is("RotaryEmbedding"));
  EXPECT_EQ(rotation->input(1), cosine.info());
  EXPECT_EQ(rotation->input(2), sine.info());
  EXPECT_TRUE(model.graph->outputs[1]->producer->is("Add"));
}

TEST_F(RaiseRotaryEmbedding, HeldTablesAreHalvedWhereTheyLie) {
  const Value held = weight("held", {3, 4}, {1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6});
  const Value places = input("places", {b, s}, DType::kInt64);
  const Value z = input("z", {b, 2, s, 4});
  const Value angles = onnx.unsqueeze(onnx.gather(held, places), {1});
  const Value first = onnx.slice(z, 3, 0, 2), second = onnx.slice(z, 3, 2, 4);
  const Value half_turn = onnx.concat({onnx.neg(second), first}, -1);
  outputs({onnx.add(onnx.mul(z, angles), onnx.mul(half_turn, angles))});
  EXPECT_TRUE(run(kRaiseRotaryEmbedding));
  const onnx::Node* rotation = model.graph->last;
  ASSERT_TRUE(rotation->is("RotaryEmbedding"));
  const onnx::Node* gather = rotation->input(1)->producer;
  while (!gather->is("Gather")) gather = gather->input(0)->producer;
  EXPECT_EQ(reals(gather->input(0)), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(gather->input(0)->constant->data, held->constant->data);
}

class RaiseInterleaved : public RulesTest {
 protected:
  // Each pair of the last axis, turned.
  Value turned(Value of, Value cosines, Value sines) {
    const Value even = onnx.slice(of, 3, 0, 8, 2), odd = onnx.slice(of, 3, 1, 8, 2);
    const Value stack =
        onnx.concat({onnx.unsqueeze(onnx.neg(odd), {4}), onnx.unsqueeze(even, {4})}, 4);
    const Value pairs = onnx.reshape(stack, of.shape());
    return onnx.add(onnx.mul(of, cosines), onnx.mul(pairs, sines));
  }
  // [1, 1, s, 8] or [1, s, 1, 8] of [1, s, 4].
  Value table(Value once, std::int64_t heads) {
    const Value apart = onnx.unsqueeze(once, {heads, 4});
    onnx::Shape twice = apart.shape();
    twice[4] = 2;
    onnx::Shape joined(twice.begin(), twice.end() - 1);
    joined[3] = 8;
    return onnx.reshape(onnx.expand(apart, twice), joined);
  }

  Value cosine = input("cosine", {1, s, 4}), sine = input("sine", {1, s, 4});
};

TEST_F(RaiseInterleaved, PairsOfNeighbors) {
  const Value x = input("x", {b, 2, s, 8});
  outputs({turned(x, table(cosine, 1), table(sine, 1))});
  EXPECT_TRUE(run(kRaiseRotaryEmbedding));
  const onnx::Node* rotation = model.graph->last;
  EXPECT_TRUE(rotation->is("RotaryEmbedding"));
  EXPECT_EQ(rotation->input(0), x.info());
  EXPECT_EQ(rotation->int_or("interleaved", 0), 1);
  EXPECT_EQ(rotation->input(1)->producer->input(0), cosine.info()) << "expanded to each batch";
}

TEST_F(RaiseInterleaved, HeadsBehindTheLengthLieSideBySide) {
  const Value x = input("x", {b, s, 2, 8});
  outputs({turned(x, table(cosine, 2), table(sine, 2))});
  EXPECT_TRUE(run(kRaiseRotaryEmbedding));
  const onnx::Node* rotation = model.graph->last->previous;
  ASSERT_TRUE(rotation->is("RotaryEmbedding"));
  EXPECT_EQ(rotation->int_or("num_heads", 0), 2);
  EXPECT_EQ(type(rotation->output()), "float32[b, s, 16]");
  EXPECT_EQ(type(model.graph->last->output()), "float32[b, s, 2, 8]");
}

TEST_F(RaiseInterleaved, TablesOfHalvesStay) {
  const Value x = input("x", {b, 2, s, 8});
  const Value halves = onnx.unsqueeze(onnx.concat({cosine, cosine}, -1), {1});
  outputs({turned(x, halves, table(sine, 1))});
  EXPECT_FALSE(run(kRaiseRotaryEmbedding));
  EXPECT_EQ(reason(), "its tables are not known to hold each angle of [batch, 1, length] twice");
}

TEST_F(RaiseRotaryEmbedding, DeclinesTablesOfUnlikeHalves) {
  const Value wide = onnx.unsqueeze(input("wide", {b, s, 8}), {1});
  outputs({turned(x, wide, table(sine))});
  EXPECT_FALSE(run(kRaiseRotaryEmbedding));
  EXPECT_EQ(reason(), "its tables are not known to hold each angle of [batch, 1, length] twice");
}

TEST_F(RaiseRotaryEmbedding, HalvesTheOtherWayRoundStay) {
  const Value first = onnx.slice(x, 3, 0, 4), second = onnx.slice(x, 3, 4, 8);
  const Value half_turn = onnx.concat({second, onnx.neg(first)}, -1);
  outputs({onnx.add(onnx.mul(x, table(cosine)), onnx.mul(half_turn, table(sine)))});
  EXPECT_FALSE(run(kRaiseRotaryEmbedding));
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class MergeSlices : public RulesTest {
 protected:
  using Ints = std::vector<std::int64_t>;

  // By hand: the emitter joins some itself.
  Value cut(Value x, Ints starts, Ints ends, Ints axes, Ints steps) {
    return onnx.slice(x, onnx.ints(starts), onnx.ints(ends), onnx.ints(axes), onnx.ints(steps));
  }
  Ints input_of_last(std::size_t index) const {
    return *Value(model.graph->last->input(index)).ints();
  }
  std::string of_last() const { return type(model.graph->last->output()); }
};

TEST_F(MergeSlices, MergesSlicesOnDifferentAxes) {
  const Value x = input("x", {b, 8, 6});
  outputs({cut(cut(x, {1}, {8}, {1}, {2}), {0}, {4}, {-1}, {3})});
  EXPECT_TRUE(run(kMergeSlices));
  EXPECT_EQ(ops(), "Slice");
  EXPECT_EQ(input_of_last(1), (Ints{1, 0}));
  EXPECT_EQ(input_of_last(2), (Ints{8, 4}));
  EXPECT_EQ(input_of_last(3), (Ints{1, 2}));
  EXPECT_EQ(input_of_last(4), (Ints{2, 3}));
  EXPECT_EQ(of_last(), "float32[b, 4, 2]");
}

TEST_F(MergeSlices, ComposesStridedSlices) {
  const Value x = input("x", {b, 20});
  outputs({cut(cut(x, {2}, {19}, {1}, {3}), {1}, {-1}, {1}, {2})});  // of 2 5 8 11 14 17
  EXPECT_TRUE(run(kMergeSlices));
  EXPECT_EQ(input_of_last(1), (Ints{5}));
  EXPECT_EQ(input_of_last(2), (Ints{17}));
  EXPECT_EQ(input_of_last(4), (Ints{6}));
  EXPECT_EQ(of_last(), "float32[b, 2]");
}

TEST_F(MergeSlices, OfASizeThatIsNotKnown) {
  const Value x = input("x", {b, s});
  const Value all_but_one = cut(x, {1}, {INT64_MAX}, {1}, {1});
  outputs({onnx.neg(cut(all_but_one, {0}, {-1}, {1}, {1})), cut(all_but_one, {2}, {7}, {1}, {1})});
  EXPECT_TRUE(run(kMergeSlices));
  EXPECT_EQ(ops(), "Slice Neg Slice");
  EXPECT_EQ(input_of_last(1), (Ints{3}));
  EXPECT_EQ(input_of_last(2), (Ints{8}));
  EXPECT_EQ(Value(model.graph->first->input(2)).ints(), (Ints{-1}));
}

TEST_F(MergeSlices, WhatCannotBeAddedUpStays) {
  const Value x = input("x", {b, s});
  outputs({cut(cut(x, {-4}, {INT64_MAX}, {1}, {1}), {1}, {3}, {1}, {1})});
  EXPECT_FALSE(run(kMergeSlices));
  EXPECT_EQ(reason(), "where the two begin and end is not known");
}

TEST_F(MergeSlices, WhatIsReadOtherwiseStays) {
  const Value half = cut(input("x", {b, 8}), {0}, {8}, {1}, {2});
  outputs({cut(half, {1}, {3}, {1}, {1}), onnx.neg(half)});
  EXPECT_FALSE(run(kMergeSlices));
  EXPECT_EQ(reason(), "something else reads what the first takes");
}

TEST_F(MergeSlices, PartsOfASplitStay) {
  const Value x = input("x", {b, s, 8});
  const Value low = cut(x, {0}, {4}, {2}, {1}), high = cut(x, {4}, {8}, {2}, {1});
  outputs({cut(low, {1}, {3}, {1}, {1}), onnx.neg(high)});
  EXPECT_FALSE(run(kMergeSlices));
  EXPECT_EQ(reason(), "the first is a part of a Split");
}

}  // namespace
}  // namespace sardonyx::passes

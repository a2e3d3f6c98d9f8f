#include "passes/rules/shapes/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class SliceOnePart : public RulesTest {
 protected:
  Value first = input("first", {b, 4}), second = input("second", {b, 6});
  Value both = onnx.concat({first, second}, 1);
};

TEST_F(SliceOnePart, AllOfAPartIsThePart) {
  outputs({onnx.neg(onnx.slice(both, 1, 4, 10))});
  EXPECT_TRUE(run(kSliceOnePart));
  EXPECT_EQ(ops(), "Neg");
  EXPECT_EQ(model.graph->first->input(0), second.info());
}

TEST_F(SliceOnePart, SomeOfAPartIsTakenFromIt) {
  outputs({onnx.slice(both, 1, 5, 10, 2), onnx.neg(both)});
  EXPECT_TRUE(run(kSliceOnePart));
  const onnx::Node* slice = model.graph->first;
  while (!slice->is("Slice")) slice = slice->next;
  EXPECT_EQ(slice->input(0), second.info());
  EXPECT_EQ(Value(slice->input(1)).ints(), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(type(slice->output()), "float32[b, 3]");
}

TEST_F(SliceOnePart, PiecesOfTwoStay) {
  outputs({onnx.slice(both, 1, 3, 5)});
  EXPECT_FALSE(run(kSliceOnePart));
}

TEST_F(SliceOnePart, AnotherAxisStays) {
  outputs({onnx.slice(both, 0, 0, 1)});
  EXPECT_FALSE(run(kSliceOnePart));
}

TEST_F(SliceOnePart, WidthsThatAreNotKnownStay) {
  outputs({onnx.slice(onnx.concat({input("z", {b, s}), first}, 1), 1, 0, 1)});
  EXPECT_FALSE(run(kSliceOnePart));
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class SliceOfConcat : public RulesTest {
 protected:
  Value first = input("first", {b, 4}), second = input("second", {b, 6});
  Value both = onnx.concat({first, second}, 1);
};

TEST_F(SliceOfConcat, AllOfAPartIsThePart) {
  outputs({onnx.neg(onnx.slice(both, 1, 4, 10))});
  EXPECT_TRUE(run(kSliceOfConcat));
  EXPECT_EQ(ops(), "Neg");
  EXPECT_EQ(model.graph->first->input(0), second.info());
}

TEST_F(SliceOfConcat, SomeOfAPartIsTakenFromIt) {
  outputs({onnx.slice(both, 1, 5, 10, 2), onnx.neg(both)});
  EXPECT_TRUE(run(kSliceOfConcat));
  const onnx::Node* slice = model.graph->first;
  while (!slice->is("Slice")) slice = slice->next;
  EXPECT_EQ(slice->input(0), second.info());
  EXPECT_EQ(Value(slice->input(1)).ints(), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(type(slice->output()), "float32[b, 3]");
}

TEST_F(SliceOfConcat, PiecesOfTwoStay) {
  outputs({onnx.slice(both, 1, 3, 5)});
  EXPECT_FALSE(run(kSliceOfConcat));
}

TEST_F(SliceOfConcat, AnotherAxisStays) {
  outputs({onnx.slice(both, 0, 0, 1)});
  EXPECT_FALSE(run(kSliceOfConcat));
}

TEST_F(SliceOfConcat, WidthsThatAreNotKnownStay) {
  outputs({onnx.slice(onnx.concat({input("z", {b, s}), first}, 1), 1, 0, 1)});
  EXPECT_FALSE(run(kSliceOfConcat));
}

}  // namespace
}  // namespace sardonyx::passes

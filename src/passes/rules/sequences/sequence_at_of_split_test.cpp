#include "passes/rules/sequences/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class SequenceAtOfSplit : public RulesTest {
 protected:
  Value taken(Value list, std::int64_t place) {
    return onnx.sequence_at(list, onnx.int_scalar(place, onnx::DType::kInt64));
  }
  Value x = input("x", {b, 10});
};

TEST_F(SequenceAtOfSplit, EqualPartsAndTheRest) {
  const Value list =
      onnx.split_to_sequence(x, onnx.int_scalar(4, onnx::DType::kInt64), {.axis = 1});
  outputs({taken(list, 0), taken(list, -1)});
  EXPECT_TRUE(run(kSequenceAtOfSplit));
  EXPECT_EQ(ops(), "Slice Slice");
  EXPECT_EQ(type(model.graph->outputs[0]), "float32[b, 4]");
  EXPECT_EQ(type(model.graph->outputs[1]), "float32[b, 2]");
}

TEST_F(SequenceAtOfSplit, PartsOfSizesOfTheirOwn) {
  outputs({taken(onnx.split_to_sequence(x, onnx.ints({3, 7}), {.axis = -1}), 1)});
  EXPECT_TRUE(run(kSequenceAtOfSplit));
  EXPECT_EQ(type(model.graph->outputs[0]), "float32[b, 7]");
}

TEST_F(SequenceAtOfSplit, ElementsWithoutTheirAxis) {
  outputs({taken(onnx.split_to_sequence(x, {}, {.axis = 1, .keepdims = 0}), 9)});
  EXPECT_TRUE(run(kSequenceAtOfSplit));
  EXPECT_EQ(ops(), "Gather");
  EXPECT_EQ(type(model.graph->outputs[0]), "float32[b]");
}

TEST_F(SequenceAtOfSplit, APartThatThereMayNotBeStays) {
  outputs(
      {taken(onnx.split_to_sequence(x, onnx.int_scalar(4, onnx::DType::kInt64), {.axis = 1}), 3),
       taken(onnx.split_to_sequence(x, onnx.int_scalar(1, onnx::DType::kInt64), {.axis = 0}), 0)});
  EXPECT_FALSE(run(kSequenceAtOfSplit));
  EXPECT_EQ(reason(), "it is not known where the part lies");
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/recurrence/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class DropZeroStates : public RulesTest {
 protected:
  Value zeros() {
    return onnx.slice(onnx.expand(onnx.scalar(0, DType::kFloat32), onnx.ints({2, 3, 4})),
                      onnx.ints({0}), onnx.ints({1}), onnx.ints({0}));
  }
  void lstm(Value hidden, Value cells) {
    outputs({onnx.lstm(input("x", {s, 3, 5}), input("w", {1, 16, 5}), input("r", {1, 16, 4}), {},
                       {}, hidden, cells, {}, {.hidden_size = 4})});
  }
};

TEST_F(DropZeroStates, BothOfAnLstm) {
  lstm(zeros(), zeros());
  EXPECT_TRUE(run(kDropZeroStates));
  EXPECT_EQ(ops(), "LSTM");
}

TEST_F(DropZeroStates, OneOfThem) {
  const Value hidden = input("h", {1, 3, 4});
  lstm(hidden, zeros());
  EXPECT_TRUE(run(kDropZeroStates));
  EXPECT_EQ(model.graph->last->input(5), hidden.info());
  EXPECT_EQ(model.graph->last->input(6), nullptr);
}

TEST_F(DropZeroStates, OfAGru) {
  outputs({onnx.gru(input("x", {s, 3, 5}), input("w", {1, 12, 5}), input("r", {1, 12, 4}), {}, {},
                    weight("h", {1, 3, 4}, std::vector<float>(12, 0.F)), {.hidden_size = 4})});
  EXPECT_TRUE(run(kDropZeroStates));
}

TEST_F(DropZeroStates, OtherStatesStay) {
  lstm(input("h", {1, 3, 4}), weight("c", {1, 3, 4}, std::vector<float>(12, 0.5F)));
  EXPECT_FALSE(run(kDropZeroStates));
}

}  // namespace
}  // namespace sardonyx::passes

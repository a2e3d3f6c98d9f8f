#include "onnx/definitions/recurrence.h"
#include "passes/rules/recurrence/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::CellStep;
using onnx::DType;
using onnx::Value;
using onnx::Values;

// Cells of 4 numbers over rows of 5.
class RaiseRecurrence : public RulesTest {
 protected:
  Value x = input("x", {s, b, 5}), h = input("h", {b, 4}), c = input("c", {b, 4});

  onnx::RecurrentWeights weights(std::int64_t gates) {
    return {input("w", {gates * 4, 5}),
            input("r", {gates * 4, 4}),
            input("wb", {gates * 4}),
            input("rb", {gates * 4}),
            {}};
  }

  // A Scan over x.
  void scan(const Values& states, const CellStep& step, std::int64_t gates) {
    outputs(onnx::recurrence(onnx, x, weights(gates), states, /*backwards=*/false, step));
  }

  // The operator, where it is the only one on the way of the data.
  const onnx::Node* found(std::string_view op) const {
    for (const onnx::Node* node = model.graph->first; node != nullptr; node = node->next)
      if (node->is(op)) return node;
    return nullptr;
  }
};

TEST_F(RaiseRecurrence, AnLstm) {
  scan({h, c}, onnx::lstm_step, 4);
  EXPECT_TRUE(run(kRaiseRecurrence));
  const onnx::Node* lstm = found("LSTM");
  ASSERT_NE(lstm, nullptr);
  EXPECT_EQ(found("Scan"), nullptr);
  EXPECT_EQ(lstm->int_or("hidden_size", 0), 4);
  EXPECT_EQ(type(lstm->input(1)), "float32[1, 16, 5]");
  EXPECT_EQ(type(lstm->input(2)), "float32[1, 16, 4]");
  EXPECT_EQ(type(lstm->input(3)), "float32[1, 32]");
}

TEST_F(RaiseRecurrence, OfNoStepsTheStatesStay) {
  scan({h, c}, onnx::lstm_step, 4);
  EXPECT_TRUE(run(kRaiseRecurrence));
  const onnx::Node* last = model.graph->outputs[1]->producer;
  ASSERT_TRUE(last->is(onnx::Op::kWhere));
  EXPECT_EQ(last->input(1), h.info());
  EXPECT_NE(found("Pad"), nullptr);
}

TEST_F(RaiseRecurrence, StepsThatThereAreAreNotPadded) {
  x = input("some", {7, b, 5});
  scan({h, c}, onnx::lstm_step, 4);
  EXPECT_TRUE(run(kRaiseRecurrence));
  EXPECT_EQ(found("Pad"), nullptr);
  EXPECT_EQ(found("Where"), nullptr);
}

TEST_F(RaiseRecurrence, AGruWhoseResetGateIsBehindTheProduct) {
  scan({h}, onnx::gru_step, 3);
  EXPECT_TRUE(run(kRaiseRecurrence));
  ASSERT_NE(found("GRU"), nullptr);
  EXPECT_EQ(found("GRU")->int_or("linear_before_reset", 0), 1);
}

TEST_F(RaiseRecurrence, APlainCell) {
  scan({h}, onnx::plain_step(/*rectified=*/true), 1);
  EXPECT_TRUE(run(kRaiseRecurrence));
  ASSERT_NE(found("RNN"), nullptr);
  const onnx::Attribute* activations = found("RNN")->find("activations");
  ASSERT_NE(activations, nullptr);
  EXPECT_EQ(std::get<std::vector<std::string>>(activations->data).front(), "Relu");
}

TEST_F(RaiseRecurrence, AnotherBatchOfStatesStays) {
  h = input("one", {1, 4});
  scan({h}, onnx::plain_step(/*rectified=*/false), 1);
  EXPECT_FALSE(run(kRaiseRecurrence));
  EXPECT_EQ(reason(), "the first states are not seen to have the batch of the input");
}

TEST_F(RaiseRecurrence, GatesThatDoSomethingElseStay) {
  const CellStep doubled = [](onnx::Emit& emit, Value input, Value hidden, const Values& states) {
    Values next = onnx::lstm_step(emit, input, hidden, states);
    next[1] = emit.add(next[1], next[1]);
    return next;
  };
  scan({h, c}, doubled, 4);
  EXPECT_FALSE(run(kRaiseRecurrence));
}

TEST_F(RaiseRecurrence, GatesOfTheCellsStay) {
  const CellStep peephole = [](onnx::Emit& emit, Value input, Value hidden, const Values& states) {
    const Value seen = emit.add(input, emit.concat({states[1], states[1], states[1]}, 1));
    return Values{onnx::gru_step(emit, seen, hidden, {states[0]}).front(), states[1]};
  };
  scan({h, c}, peephole, 3);
  EXPECT_FALSE(run(kRaiseRecurrence));
}

TEST_F(RaiseRecurrence, AnotherStateThatSomethingReadsStays) {
  scan(
      {h, c},
      [](onnx::Emit& emit, Value input, Value hidden, const Values& states) {
        return Values{onnx::plain_step(false)(emit, input, hidden, states).front(),
                      emit.sin(states[1])};
      },
      1);
  EXPECT_FALSE(run(kRaiseRecurrence));
  EXPECT_EQ(reason(), "the loop carries something else as well");
}

TEST_F(RaiseRecurrence, DoublesStay) {
  x = input("x64", {s, b, 5}, DType::kFloat64);
  h = input("h64", {b, 4}, DType::kFloat64);
  const auto matrix = [&](const char* name, std::int64_t columns) {
    return input(name, {4, columns}, DType::kFloat64);
  };
  outputs(onnx::recurrence(onnx, x, {matrix("w", 5), matrix("r", 4), {}, {}, {}}, {h}, false,
                           onnx::plain_step(false)));
  EXPECT_FALSE(run(kRaiseRecurrence));
  EXPECT_EQ(reason(), "it does not compute in float32");
}

}  // namespace
}  // namespace sardonyx::passes

#include "functionalize/calls/inline_wrappers.h"

#include <gtest/gtest.h>

#include "functionalize/program_for_test.h"

namespace sardonyx::functionalize {
namespace {

using base::DType;
using program::List;
using testing::Hand;

// A body that multiplies its two inputs as matrices; the result has `dtype`.
program::Graph* product(Hand& hand, DType dtype) {
  hand.graph = hand.program.add_graph();
  auto* a = hand.input("a", {4, 4});
  auto* b = hand.input("b", {4, 4});
  auto* product = hand.call("aten::matmul", {a, b}, "matmul", {4, 4}, dtype);
  hand.output(hand.call("aten::relu", {product}, "relu", {4, 4}, dtype));
  program::Graph* body = hand.graph;
  hand.graph = hand.program.graph;
  return body;
}

TEST(InlineWrappers, TheBodyStandsWhereTheWrapperStood) {
  Hand hand;
  auto* x = hand.input("x", {4, 4});
  auto* body = product(hand, DType::kFloat32);
  auto* result = hand.call("higher_order::wrap_with_set_grad_enabled", {false, body, List{x, x}},
                           "wrapped", {4, 4});
  hand.output(hand.call("aten::neg", {result}, "neg", {4, 4}));
  inline_wrappers(hand.program, *hand.program.graph);
  program::verify(hand.program);
  EXPECT_EQ(hand.text(),
            "matmul = aten::matmul(x, x)\nrelu = aten::relu(matmul)\nneg = aten::neg(relu)\n"
            "return neg");
}

TEST(InlineWrappers, ABodyRunTwiceHasValuesOfItsOwnEachTime) {
  Hand hand;
  auto* x = hand.input("x", {4, 4});
  auto* body = product(hand, DType::kFloat32);
  auto* first = hand.call("higher_order::invoke_subgraph", {body, program::None(), List{x, x}},
                          "first", {4, 4});
  hand.output(hand.call("higher_order::invoke_subgraph", {body, program::None(), List{first, x}},
                        "second", {4, 4}));
  inline_wrappers(hand.program, *hand.program.graph);
  program::verify(hand.program);
  EXPECT_EQ(hand.text(),
            "matmul = aten::matmul(x, x)\nrelu = aten::relu(matmul)\n"
            "matmul_1 = aten::matmul(relu, x)\nrelu_1 = aten::relu(matmul_1)\nreturn relu_1");
}

TEST(InlineWrappers, AutocastCastsTheArgumentsOfMatrixProducts) {
  for (const bool enabled : {true, false}) {
    Hand hand;
    auto* x = hand.input("x", {4, 4});
    const DType dtype = enabled ? DType::kBFloat16 : DType::kFloat32;
    auto* body = product(hand, dtype);
    hand.output(hand.call(
        "higher_order::wrap_with_autocast",
        {std::string("cpu"), DType::kBFloat16, enabled, program::None(), body, List{x, x}},
        "wrapped", {4, 4}, dtype));
    inline_wrappers(hand.program, *hand.program.graph);
    program::verify(hand.program);
    EXPECT_EQ(hand.text(), enabled ? "x_bfloat16 = aten::to.dtype(x, bfloat16)\n"
                                     "x_bfloat16_1 = aten::to.dtype(x, bfloat16)\n"
                                     "matmul = aten::matmul(x_bfloat16, x_bfloat16_1)\n"
                                     "relu = aten::relu(matmul)\nreturn relu"
                                   : "matmul = aten::matmul(x, x)\nrelu = aten::relu(matmul)\n"
                                     "return relu");
  }
}

}  // namespace
}  // namespace sardonyx::functionalize

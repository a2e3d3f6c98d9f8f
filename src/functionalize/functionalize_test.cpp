#include "functionalize/functionalize.h"

#include <gtest/gtest.h>

#include "functionalize/program_for_test.h"
#include "program/ir/target.h"

namespace sardonyx::functionalize {
namespace {

using base::DType;
using program::InputKind;
using program::List;
using symbolic::Expr;
using testing::Hand;
using testing::Shape;

List ints(std::initializer_list<int> values) {
  List list;
  for (const int value : values) list.emplace_back(Expr(value));
  return list;
}

std::string functionalized(Hand& hand) {
  functionalize(hand.program);
  program::verify(hand.program);
  return hand.text();
}

TEST(Functionalize, LeavesProgramsWithoutWritesAlone) {
  Hand hand;
  auto* x = hand.input("x", {4, 6});
  auto* t = hand.call("aten::t", {x}, "t", {6, 4});
  hand.output(hand.call("aten::detach", {t}, "detach", {6, 4}));
  hand.call("aten::relu", {x}, "unused", {4, 6});
  const std::string before = hand.text();
  EXPECT_EQ(functionalized(hand), before);
}

TEST(Functionalize, WriteToAViewReachesTheBase) {
  Hand hand;
  auto* x = hand.input("x", {4, 6});
  auto* y = hand.call("aten::clone", {x}, "y", {4, 6});
  auto* column = hand.call("aten::select.int", {y, Expr(1), Expr(0)}, "column", {4});
  hand.call("aten::add_.Tensor", {column, x}, "add_", {4});
  hand.output(y);
  EXPECT_EQ(functionalized(hand),
            "y = aten::clone(x)\n"
            "column = aten::select.int(y, 1, 0)\n"
            "add_ = aten::add.Tensor(column, x)\n"
            "y_1 = aten::select_scatter(y, add_, 1, 0)\n"
            "return y_1");
}

TEST(Functionalize, OtherViewsSeeTheWrite) {
  Hand hand;
  auto* x = hand.input("x", {4, 6});
  auto* y = hand.call("aten::clone", {x}, "y", {4, 6});
  auto* t = hand.call("aten::t", {y}, "t", {6, 4});
  auto* row = hand.call("aten::select.int", {y, Expr(0), Expr(1)}, "row", {6});
  hand.call("aten::zero_", {row}, "zero_", {6});
  hand.output(t);
  EXPECT_EQ(functionalized(hand),
            "y = aten::clone(x)\n"
            "zero_ = aten::full([6], 0, float32)\n"
            "y_1 = aten::select_scatter(y, zero_, 0, 1)\n"
            "t_1 = aten::t(y_1)\n"
            "return t_1");
}

TEST(Functionalize, WritesToOneViewAreMergedOnce) {
  Hand hand;
  auto* x = hand.input("x", {4, 6});
  auto* y = hand.call("aten::clone", {x}, "y", {4, 6});
  auto* row = hand.call("aten::select.int", {y, Expr(0), Expr(1)}, "row", {6});
  hand.call("aten::neg_", {row}, "neg_", {6});
  hand.call("aten::exp_", {row}, "exp_", {6});
  hand.output(y);
  EXPECT_EQ(functionalized(hand),
            "y = aten::clone(x)\n"
            "row = aten::select.int(y, 0, 1)\n"
            "neg_ = aten::neg(row)\n"
            "exp_ = aten::exp(neg_)\n"
            "y_1 = aten::select_scatter(y, exp_, 0, 1)\n"
            "return y_1");
}

TEST(Functionalize, WriteThatNothingReadsDisappears) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* scratch = hand.call("aten::clone", {x}, "scratch", {4});
  hand.call("aten::add_.Tensor", {scratch, x}, "add_", {4});
  hand.output(hand.call("aten::relu", {x}, "relu", {4}));
  EXPECT_EQ(functionalized(hand), "relu = aten::relu(x)\nreturn relu");
}

TEST(Functionalize, KeepsTheDtypeOfWhatIsWrittenTo) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* y = hand.input("y", {4}, InputKind::kUser, DType::kFloat64);
  auto* z = hand.call("aten::clone", {x}, "z", {4});
  hand.output(hand.call("aten::add_.Tensor", {z, y}, "add_", {4}));
  EXPECT_EQ(functionalized(hand),
            "z = aten::clone(x)\n"
            "add__promoted = aten::add.Tensor(z, y)\n"
            "add_ = aten::to.dtype(add__promoted, float32)\n"
            "return add_");
}

TEST(Functionalize, ZeroDimOperandsDoNotPromote) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* y = hand.input("y", {}, InputKind::kUser, DType::kFloat64);
  auto* z = hand.call("aten::clone", {x}, "z", {4});
  hand.output(hand.call("aten::mul_.Tensor", {z, y}, "mul_", {4}));
  EXPECT_EQ(functionalized(hand), "z = aten::clone(x)\nmul_ = aten::mul.Tensor(z, y)\nreturn mul_");
}

TEST(Functionalize, CopyCastsAndExpands) {
  Hand hand;
  auto* x = hand.input("x", {4, 6});
  auto* y = hand.input("y", {6}, InputKind::kUser, DType::kInt64);
  auto* z = hand.call("aten::clone", {x}, "z", {4, 6});
  hand.output(hand.call("aten::copy_", {z, y}, "copy_", {4, 6}));
  EXPECT_EQ(functionalized(hand),
            "copy__1 = aten::to.dtype(y, float32)\n"
            "copy_ = aten::expand(copy__1, [4, 6])\n"
            "return copy_");
}

TEST(Functionalize, MutatedInputsAndBuffersAreFurtherOutputs) {
  Hand hand;
  auto* buffer = hand.input("b_state", {4}, InputKind::kBuffer);
  hand.program.inputs.back().target = "state";
  auto* x = hand.input("x", {4});
  hand.call("aten::add_.Tensor", {buffer, x}, "add_", {4});
  hand.call("aten::relu_", {x}, "relu_", {4});
  hand.output(hand.call("aten::mul.Tensor", {buffer, x}, "mul", {4}));
  EXPECT_EQ(functionalized(hand),
            "add_ = aten::add.Tensor(b_state, x)\n"
            "relu_ = aten::relu(x)\n"
            "mul = aten::mul.Tensor(add_, relu_)\n"
            "return mul add_ relu_\n"
            "state updated\n"
            "x updated");
}

TEST(Functionalize, TiedBuffersAreOneTensor) {
  Hand hand;
  auto* storage = hand.program.add_storage();
  std::vector<program::Value*> tied;
  for (const char* name : {"a", "b"}) {
    auto* value = hand.input(name, {4}, InputKind::kBuffer);
    auto* weight = hand.program.add_weight();
    *weight = {name, DType::kFloat32, {4}, {1}, 0, storage};
    value->weight = weight;
    tied.push_back(value);
  }
  hand.call("aten::zero_", {tied[0]}, "zero_", {4});
  hand.output(hand.call("aten::relu", {tied[1]}, "relu", {4}));
  EXPECT_EQ(functionalized(hand),
            "zero_ = aten::full([4], 0, float32)\n"
            "relu = aten::relu(zero_)\n"
            "return relu zero_ zero_\n"
            "a updated\n"
            "b updated");
}

TEST(Functionalize, OutputsOfSplitAreCutOutAgainAsSlices) {
  Hand hand;
  auto* x = hand.input("x", {4, 6});
  auto* y = hand.call("aten::clone", {x}, "y", {4, 6});
  const auto parts =
      hand.calls("aten::split.Tensor", {y, Expr(3), Expr(1)}, {"left", "right"}, {4, 3});
  hand.call("aten::neg_", {parts[0]}, "neg_", {4, 3});
  hand.call("aten::mul_.Scalar", {y, Expr(2)}, "mul_", {4, 6});
  hand.output(parts[1]);
  EXPECT_EQ(functionalized(hand),
            "y = aten::clone(x)\n"
            "left, right = aten::split.Tensor(y, 3, 1)\n"
            "neg_ = aten::neg(left)\n"
            "y_1 = aten::slice_scatter(y, neg_, 1, 0, 3)\n"
            "mul_ = aten::mul.Scalar(y_1, 2)\n"
            "right_1 = aten::slice.Tensor(mul_, 1, 3, 6)\n"
            "return right_1");
}

TEST(Functionalize, ReshapeOfATransposedTensorIsACopy) {
  Hand hand;
  auto* x = hand.input("x", {4, 6});
  auto* y = hand.call("aten::clone", {x}, "y", {4, 6});
  auto* t = hand.call("aten::t", {y}, "t", {6, 4});
  t->strides = {1, 6};
  auto* flat = hand.call("aten::reshape", {t, ints({24})}, "flat", {24});
  hand.call("aten::zero_", {flat}, "zero_", {24});
  hand.output(y);
  EXPECT_EQ(functionalized(hand), "y = aten::clone(x)\nreturn y");
}

TEST(Functionalize, SizesMayBeSymbolic) {
  Hand hand;
  const Expr n = hand.program.pool->symbol("n");
  auto* x = hand.input("x", {n, 6});
  auto* y = hand.call("aten::clone", {x}, "y", {n, 6});
  auto* flat = hand.call("aten::view", {y, ints({-1})}, "flat", {n * 6});
  hand.call("aten::fill_.Scalar", {flat, 1.5}, "fill_", {n * 6});
  hand.output(y);
  EXPECT_EQ(functionalized(hand),
            "fill_ = aten::full([6*n], 1.500000, float32)\n"
            "y_1 = aten::reshape(fill_, [n, 6])\n"
            "return y_1");
}

TEST(Functionalize, TensorsCanBeSeenAnotherWayInPlace) {
  Hand hand;
  auto* x = hand.input("x", {4, 6});
  auto* y = hand.call("aten::clone", {x}, "y", {4, 6});
  hand.call("aten::t_", {y}, "t_", {6, 4});
  hand.output(hand.call("aten::relu", {y}, "relu", {6, 4}));
  EXPECT_EQ(functionalized(hand),
            "y = aten::clone(x)\nt_ = aten::t(y)\nrelu = aten::relu(t_)\nreturn relu");
}

TEST(Functionalize, OutArgumentsAreWritten) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* out = hand.call("aten::zeros_like", {x}, "out", {4});
  hand.call("aten::add.out", {x, x, Expr(1), out}, "add", {4});
  hand.output(out);
  EXPECT_EQ(functionalized(hand), "add = aten::add.Tensor(x, x)\nreturn add");
}

TEST(Functionalize, RefusesWritesThroughOverlapsNamingBothLines) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* y = hand.call("aten::clone", {x}, "y", {4});
  hand.at_line(12);
  auto* wide = hand.call("aten::expand", {y, ints({3, 4})}, "wide", {3, 4});
  hand.at_line(15);
  hand.call("aten::add_.Tensor", {wide, x}, "add_", {3, 4});
  hand.output(y);
  try {
    functionalize(hand.program);
    FAIL() << "it should have been refused";
  } catch (const base::Error& error) {
    ASSERT_EQ(error.diagnostics().size(), 1u);
    const auto& diagnostic = error.diagnostics()[0];
    EXPECT_EQ(diagnostic.code, "SX1702");
    EXPECT_EQ(diagnostic.location.line, 15);
    EXPECT_NE(diagnostic.message.find("model.py:12"), std::string::npos) << diagnostic.message;
  }
}

TEST(Functionalize, FillsThroughOverlaps) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* y = hand.call("aten::clone", {x}, "y", {4});
  auto* wide = hand.call("aten::expand", {y, ints({3, 4})}, "wide", {3, 4});
  hand.call("aten::zero_", {wide}, "zero_", {3, 4});
  hand.output(y);
  EXPECT_EQ(functionalized(hand),
            "zero_ = aten::full([3, 4], 0, float32)\n"
            "wide_1 = aten::select.int(zero_, 0, 0)\n"
            "return wide_1");
}

// A branch that negates a copy of its input, or the input itself.
program::Graph* negating(Hand& hand, bool in_place) {
  hand.graph = hand.program.add_graph();
  hand.graph->name = "body";
  auto* inner = hand.input("inner", {4});
  auto* target = in_place ? inner : hand.call("aten::clone", {inner}, "copy", {4});
  hand.call("aten::neg_", {target}, "neg_", {4});
  hand.output(hand.call("aten::relu", {target}, "relu", {4}));
  program::Graph* body = hand.graph;
  hand.graph = hand.program.graph;
  return body;
}

TEST(Functionalize, BodiesAreFunctionalized) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* flag = hand.input("flag", {}, InputKind::kUser, DType::kBool);
  program::Graph* bodies[] = {negating(hand, false), negating(hand, false)};
  hand.output(hand.call("higher_order::cond", {flag, bodies[0], bodies[1], List{x}}, "cond", {4}));
  const std::string body =
      "{copy = aten::clone(inner)\nneg_ = aten::neg(copy)\nrelu = aten::relu(neg_)\nreturn relu}";
  EXPECT_EQ(functionalized(hand),
            "cond = higher_order::cond(flag, " + body + ", " + body + ", [x])\nreturn cond");
}

TEST(Functionalize, WhatABranchWritesToIsAFurtherResult) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* flag = hand.input("flag", {}, InputKind::kUser, DType::kBool);
  auto* y = hand.call("aten::clone", {x}, "y", {4});
  program::Graph* bodies[] = {negating(hand, true), negating(hand, false)};
  hand.output(hand.call("higher_order::cond", {flag, bodies[0], bodies[1], List{y}}, "cond", {4}));
  hand.output(y);
  EXPECT_EQ(functionalized(hand),
            "y = aten::clone(x)\n"
            "cond, y_1 = higher_order::cond(flag, "
            "{neg_ = aten::neg(inner)\nrelu = aten::relu(neg_)\nreturn relu neg_}, "
            "{copy = aten::clone(inner)\nneg_ = aten::neg(copy)\nrelu = aten::relu(neg_)\n"
            "return relu inner}, [y])\nreturn cond y_1");
}

TEST(Functionalize, ABodyMayNotWriteToWhatAnotherOperandSees) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* flag = hand.input("flag", {}, InputKind::kUser, DType::kBool);
  auto* y = hand.call("aten::clone", {x}, "y", {4});
  auto* part = hand.call("aten::slice.Tensor", {y, Expr(0), Expr(0), Expr(2)}, "part", {2});
  program::Graph* bodies[] = {negating(hand, true), negating(hand, false)};
  hand.output(
      hand.call("higher_order::cond", {flag, bodies[0], bodies[1], List{y, part}}, "cond", {4}));
  EXPECT_THROW(functionalize(hand.program), base::Error);
}

TEST(Functionalize, OperatorsOnListsBecomeOneCallATensor) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* y = hand.call("aten::clone", {x}, "y", {4});
  auto* z = hand.call("aten::clone", {x}, "z", {4});
  hand.call("aten::_foreach_add_.Scalar", {List{y, z}, Expr(2)}, "add", {4});
  hand.output(y);
  hand.output(z);
  EXPECT_EQ(functionalized(hand),
            "y = aten::clone(x)\nz = aten::clone(x)\n"
            "add_1_1 = aten::add.Scalar(y, 2)\nadd_2_1 = aten::add.Scalar(z, 2)\n"
            "return add_1_1 add_2_1");
}

TEST(Functionalize, AutomaticallyFunctionalizedCallsAreTakenBack) {
  Hand hand;
  auto* x = hand.input("x", {4});
  auto* y = hand.call("aten::clone", {x}, "y", {4});
  const program::BoundCall bound = program::bind_target(
      hand.program, "higher_order::auto_functionalized_v2", {program::Opaque{"aten::neg_"}},
      {{"_self_base_index", Expr(0)},
       {"_self_size", ints({2})},
       {"_self_stride", ints({1})},
       {"_self_storage_offset", Expr(1)},
       {"_all_bases", List{y}}});
  program::Call* call = hand.program.add_call();
  call->schema = bound.schema;
  call->arguments = bound.arguments;
  call->name = "automatic";
  for (const char* name : {"result", "base"}) {
    program::Value* output = hand.program.add_value();
    output->name = name;
    output->dtype = DType::kFloat32;
    output->shape = {name[0] == 'r' ? 2 : 4};
    output->producer = call;
    output->index = static_cast<std::uint32_t>(call->outputs.size());
    call->outputs.push_back(output);
  }
  hand.graph->calls.push_back(call);
  hand.output(call->outputs[1]);
  hand.output(y);
  EXPECT_EQ(functionalized(hand),
            "y = aten::clone(x)\n"
            "y_copy = aten::clone(y)\n"
            "self = aten::as_strided(y_copy, [2], [1], 1)\n"
            "result = aten::neg(self)\n"
            "y_copy_1 = aten::as_strided_scatter(y_copy, result, [2], [1], 1)\n"
            "return y_copy_1 y");
}

TEST(Functionalize, DimensionsOfATensorWithout) {
  Hand hand;
  program::Value* x = hand.input("x", {});
  program::Value* y = hand.call("aten::movedim.int", {x, Expr(-1), Expr(0)}, "y", {});
  hand.output(hand.call("aten::add_.Tensor", {y, x}, "z", {}));
  EXPECT_EQ(functionalized(hand),
            "y = aten::movedim.int(x, -1, 0)\n"
            "z = aten::add.Tensor(y, x)\n"
            "return z z\n"
            "x updated");
}

TEST(Functionalize, DimensionsThatAreNotThereAreRefused) {
  const std::pair<std::string, std::vector<List>> calls[] = {
      {"aten::movedim.intlist", {ints({0, 7}), ints({0, 1})}},
      {"aten::movedim.intlist", {ints({0, 1}), ints({0, 0})}},
      {"aten::permute", std::vector<List>(1, ints({0, 0, 1}))},
  };
  for (const auto& [op, rest] : calls) {
    Hand hand;
    program::Value* x = hand.input("x", {2, 3});
    std::vector<program::Argument> arguments = {x};
    for (const List& list : rest) arguments.emplace_back(list);
    program::Value* view = hand.call(op, std::move(arguments), "view", {2, 3});
    hand.output(hand.call("aten::add_.Tensor", {view, view}, "z", {2, 3}));
    try {
      functionalized(hand);
      ADD_FAILURE() << op << " was not refused";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.diagnostics().front().code, "SX1302") << op;
    }
  }
}

}  // namespace
}  // namespace sardonyx::functionalize

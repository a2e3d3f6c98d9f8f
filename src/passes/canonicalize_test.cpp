#include "onnx/infer/infer.h"
#include "passes/passes.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;
using onnx::Values;

class Canonicalize : public RulesTest {
 protected:
  // A node as it stands in somebody's file: neither folded nor shared.
  Value written(std::string op, const Values& inputs,
                std::vector<onnx::Attribute> attributes = {}) {
    onnx::Node* node = model.add_node(std::move(op), "");
    for (const Value value : inputs) onnx::add_input(node, value.info());
    node->attributes = std::move(attributes);
    onnx::append(model.graph, node);
    onnx::add_output(node, model.add_value("v"));
    onnx::infer(node, *pool, onnx::newest_opset());
    return node->output();
  }
  Value x = input("x", {b, s, 12});
};

TEST_F(Canonicalize, SizesAreReadOffInTheSimplestWay) {
  const Value shape = written("Shape", {x});
  const Value first = written("Gather", {shape, onnx.int_scalar(0)});
  const Value wanted = written(
      "Concat", {written("Unsqueeze", {first, onnx.ints({0})}), onnx.ints({-1}), onnx.ints({3, 4})},
      {{"axis", std::int64_t{0}, {}}});
  outputs({written("Reshape", {x, wanted})});
  EXPECT_TRUE(run(canonicalize));
  EXPECT_TRUE(run(drop_unused_nodes));
  EXPECT_EQ(ops(), "Reshape");
}

TEST_F(Canonicalize, EqualNodesBecomeOne) {
  outputs({written("Add", {written("Sin", {x}), written("Sin", {x})})});
  EXPECT_TRUE(run(canonicalize));
  EXPECT_EQ(ops(), "Sin Add");
}

TEST_F(Canonicalize, NodesThatAreEqualButForACopyOfAWeightBecomeOne) {
  const Value w = weight("w", {12}, std::vector<float>(12, 1));
  outputs(
      {written("Sub", {written("Add", {x, w}), written("Add", {x, written("Identity", {w})})})});
  EXPECT_TRUE(run(canonicalize));
  EXPECT_EQ(ops(), "Add Sub");
}

TEST_F(Canonicalize, OperandsMayStandTheOtherWayRound) {
  const Value y = input("y", {b, s, 12});
  outputs({onnx.mul(written("Add", {x, y}), written("Add", {y, x}))});
  EXPECT_TRUE(run(canonicalize));
  EXPECT_EQ(ops(), "Add Mul");
  outputs({onnx.mul(written("Sub", {x, y}), written("Sub", {y, x}))});
  run(canonicalize);
  run(drop_unused_nodes);
  EXPECT_EQ(ops(), "Sub Sub Mul");
}

TEST_F(Canonicalize, WhatIsConstantByNowTellsMoreOfTypes) {
  const Value counts = written("CumSum", {onnx.ints({3, 1}), onnx.int_scalar(0)});
  const Value y =
      written("Reshape",
              {x, written("Concat", {onnx.ints({-1}), counts}, {{"axis", std::int64_t{0}, {}}})});
  const Value size = written("Gather", {written("Shape", {y}), onnx.ints({1})});
  outputs({written("Expand", {onnx.neg(y), written("Concat", {onnx.ints({1}), size, onnx.ints({1})},
                                                   {{"axis", std::int64_t{0}, {}}})})});
  EXPECT_TRUE(run(canonicalize));
  EXPECT_TRUE(run(drop_unused_nodes));
  EXPECT_EQ(ops(), "Reshape Neg Identity");  // it expands nothing
}

TEST_F(Canonicalize, WhatExpandKeepsIsNoChoice) {
  const Value wanted = written("Shape", {x});
  const Value keeps = written("Equal", {wanted, onnx.ints({-1, -1, -1})});
  outputs(
      {written("Expand", {onnx.exp(x), written("Where", {keeps, onnx.ints({1, 1, 1}), wanted})}),
       onnx.neg(x)});
  EXPECT_TRUE(run(canonicalize));
  EXPECT_TRUE(run(drop_unused_nodes));
  EXPECT_EQ(ops().find("Where"), std::string::npos) << ops();
}

TEST_F(Canonicalize, WhatIsRandomIsDrawnTwice) {
  const Value a = written("RandomNormalLike", {x}), again = written("RandomNormalLike", {x});
  outputs({written("Add", {a, again})});
  run(canonicalize);
  EXPECT_EQ(ops(), "RandomNormalLike RandomNormalLike Add");
}

TEST_F(Canonicalize, NothingIsBuiltOnADisputedType) {
  const Value y = written("Identity", {x});
  y->is_disputed = true;
  outputs({written("Identity", {y})});
  EXPECT_FALSE(run(canonicalize));
}

}  // namespace
}  // namespace sardonyx::passes

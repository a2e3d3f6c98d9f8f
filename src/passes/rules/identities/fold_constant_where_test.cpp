#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using enum base::DType;
using onnx::Tensor;
using onnx::Value;

class FoldConstantWhere : public RulesTest {
 protected:
  Value x = input("x", {b, 4}), y = input("y", {b, 4});
  Value truth(bool each, std::vector<std::int64_t> dims) {
    return onnx.constant(Tensor::filled_int(kBool, std::move(dims), each ? 1 : 0));
  }
  // By hand: the emitter chooses some itself.
  Value where(Value condition, Value yes, Value no) {
    const std::vector<Value> inputs = {condition, yes, no};
    return onnx.node("", "Where", inputs, {}, 1).front();
  }
};

TEST_F(FoldConstantWhere, WhatIsAlwaysChosen) {
  outputs({onnx.neg(where(truth(true, {1, 4}), onnx.relu(x), y)),
           onnx.neg(where(truth(false, {}), onnx.relu(x), onnx.tanh(y)))});
  EXPECT_TRUE(run(kFoldConstantWhere));
  EXPECT_EQ(ops(), "Relu Neg Tanh Neg");
}

TEST_F(FoldConstantWhere, WhatWouldBeMadeLargerStays) {
  outputs({where(truth(true, {4}), input("n", {1, 4}), y)});
  EXPECT_FALSE(run(kFoldConstantWhere));
}

TEST_F(FoldConstantWhere, EitherOfTheTwoStays) {
  const std::vector<std::int64_t> some = {1, 0, 1, 1};
  outputs({where(onnx.cast(onnx.ints(some), kBool), x, y)});
  EXPECT_FALSE(run(kFoldConstantWhere));
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using enum base::DType;
using onnx::Value;

class Idempotent : public RulesTest {
 protected:
  Value x = input("x", {b, 4});
  std::string left(Value y) {
    outputs({y});
    run(kIdempotent);
    return ops();
  }
};

TEST_F(Idempotent, TheSameTwice) {
  EXPECT_EQ(left(onnx.relu(onnx.relu(onnx.abs(onnx.abs(onnx.neg(x)))))), "Neg Abs");
}

TEST_F(Idempotent, RoundingOfWhatIsWhole) {
  EXPECT_EQ(left(onnx.ceil(onnx.round(onnx.floor(x)))), "Floor");
}

TEST_F(Idempotent, AnotherValueStays) { EXPECT_EQ(left(onnx.sign(onnx.floor(x))), "Floor Sign"); }

TEST_F(Idempotent, ReluOfWhatMayBeNegativeStays) {
  EXPECT_EQ(left(onnx.relu(onnx.tanh(x))), "Tanh Relu");
}

// |-128| is -128 in eight bits.
TEST_F(Idempotent, IntegersStay) {
  EXPECT_EQ(left(onnx.relu(onnx.abs(input("i", {b}, kInt8)))), "Abs Relu");
}

}  // namespace
}  // namespace sardonyx::passes

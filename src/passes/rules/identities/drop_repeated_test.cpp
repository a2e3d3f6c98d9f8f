#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using enum base::DType;
using onnx::Value;

class DropRepeated : public RulesTest {
 protected:
  Value x = input("x", {b, 4});
  std::string left(Value y) {
    outputs({y});
    run(kDropRepeated);
    return ops();
  }
};

TEST_F(DropRepeated, TheSameTwice) {
  EXPECT_EQ(left(onnx.relu(onnx.relu(onnx.abs(onnx.abs(onnx.neg(x)))))), "Neg Abs");
}

TEST_F(DropRepeated, RoundingOfWhatIsWhole) {
  EXPECT_EQ(left(onnx.ceil(onnx.round(onnx.floor(x)))), "Floor");
}

TEST_F(DropRepeated, AnotherValueStays) { EXPECT_EQ(left(onnx.sign(onnx.floor(x))), "Floor Sign"); }

TEST_F(DropRepeated, ReluOfWhatMayBeNegativeStays) {
  EXPECT_EQ(left(onnx.relu(onnx.tanh(x))), "Tanh Relu");
}

// |-128| is -128 in eight bits.
TEST_F(DropRepeated, IntegersStay) {
  EXPECT_EQ(left(onnx.relu(onnx.abs(input("i", {b}, kInt8)))), "Abs Relu");
}

}  // namespace
}  // namespace sardonyx::passes

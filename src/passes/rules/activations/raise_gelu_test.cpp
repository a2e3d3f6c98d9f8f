#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseGelu : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }
};

TEST_F(RaiseGelu, ByErf) {
  const Value sum = onnx.add(onnx.erf(onnx.div(x, number(1.4142135))), number(1));
  outputs({onnx.mul(onnx.mul(x, number(0.5)), sum)});
  EXPECT_TRUE(run(kRaiseGelu));
  EXPECT_EQ(ops(), "Gelu");
  EXPECT_EQ(model.graph->first->string_or("approximate", ""), "none");
}

TEST_F(RaiseGelu, ByErfOfAProductAndTheHalfLast) {
  const Value sum = onnx.add(number(1), onnx.erf(onnx.mul(x, number(0.70710678))));
  outputs({onnx.mul(number(0.5), onnx.mul(x, sum))});
  EXPECT_TRUE(run(kRaiseGelu));
  EXPECT_EQ(ops(), "Gelu");
}

TEST_F(RaiseGelu, ByTanhOfACube) {
  const Value cube = onnx.mul(onnx.pow(x, number(3)), number(0.044715));
  const Value tanh = onnx.tanh(onnx.mul(onnx.add(x, cube), number(0.7978845608)));
  outputs({onnx.mul(onnx.mul(number(0.5), x), onnx.add(tanh, number(1)))});
  EXPECT_TRUE(run(kRaiseGelu));
  EXPECT_EQ(ops(), "Gelu");
  EXPECT_EQ(model.graph->first->string_or("approximate", ""), "tanh");
}

TEST_F(RaiseGelu, ByTanhWithXTakenOut) {
  const Value square = onnx.mul(onnx.mul(number(0.044715), x), x);
  const Value inner = onnx.mul(onnx.mul(x, number(0.7978845608)), onnx.add(square, number(1)));
  outputs({onnx.mul(onnx.mul(number(0.5), x), onnx.add(onnx.tanh(inner), number(1)))});
  EXPECT_TRUE(run(kRaiseGelu));
  EXPECT_EQ(ops(), "Gelu");
}

TEST_F(RaiseGelu, AnotherNumberStays) {
  const Value sum = onnx.add(onnx.erf(onnx.div(x, number(1.5))), number(1));
  outputs({onnx.mul(onnx.mul(x, number(0.5)), sum)});
  EXPECT_FALSE(run(kRaiseGelu));
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/quantization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class DropRequantization : public RulesTest {
 protected:
  Value q = input("q", {b, 4}, DType::kInt8);
  Value scale = onnx.scalar(0.25, DType::kFloat32), zero = onnx.scalar(3, DType::kInt8);

  Value quantized(Value real, Value by) {
    return onnx.node("", "QuantizeLinear", std::vector<Value>{real, by, zero}, {}, 1)[0];
  }
  Value dequantized() {
    return onnx.node("", "DequantizeLinear", std::vector<Value>{q, scale, zero}, {}, 1)[0];
  }
};

TEST_F(DropRequantization, IntegersComeBack) {
  outputs({onnx.abs(quantized(dequantized(), scale))});
  EXPECT_TRUE(run(kDropRequantization));
  EXPECT_EQ(ops(), "Abs");
}

TEST_F(DropRequantization, AnotherScaleStays) {
  outputs({onnx.abs(quantized(dequantized(), onnx.scalar(0.5, DType::kFloat32)))});
  EXPECT_FALSE(run(kDropRequantization));
}

}  // namespace
}  // namespace sardonyx::passes

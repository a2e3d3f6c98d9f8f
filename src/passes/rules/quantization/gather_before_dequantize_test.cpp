#include "passes/rules/quantization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Attribute;
using onnx::DType;
using onnx::Tensor;
using onnx::Value;

class GatherBeforeDequantize : public RulesTest {
 protected:
  Value ids = input("ids", {b, s}, DType::kInt64);

  Value table(std::int64_t rows) {
    return model.add_weight("table", Tensor::filled_int(DType::kInt8, {rows, 64}, 3));
  }
  Value dequantized(Value integers, Value scale, std::vector<Attribute> attributes = {}) {
    return onnx.node("", "DequantizeLinear", std::vector<Value>{integers, scale},
                     std::move(attributes), 1)[0];
  }
  Value scales(std::int64_t count) {
    return model.add_weight("scales", Tensor::filled(DType::kFloat32, {count}, 0.5));
  }
};

TEST_F(GatherBeforeDequantize, RowsAloneAreDequantized) {
  outputs({onnx.gather(dequantized(table(1024), onnx.scalar(0.5, DType::kFloat32)), ids)});
  EXPECT_TRUE(run(kGatherBeforeDequantize));
  EXPECT_EQ(ops(), "Gather DequantizeLinear");
}

TEST_F(GatherBeforeDequantize, ScalesOfColumnsStandOneAxisLater) {
  outputs(
      {onnx.gather(dequantized(table(1024), scales(64), {{"axis", std::int64_t{1}, {}}}), ids)});
  EXPECT_TRUE(run(kGatherBeforeDequantize));
  EXPECT_EQ(ops(), "Gather DequantizeLinear");
  EXPECT_EQ(model.graph->last->int_or("axis", 1), 2);
}

TEST_F(GatherBeforeDequantize, ScalesOfRowsAreLookedUpToo) {
  outputs(
      {onnx.gather(dequantized(table(1024), scales(1024), {{"axis", std::int64_t{0}, {}}}), ids)});
  EXPECT_TRUE(run(kGatherBeforeDequantize));
  EXPECT_EQ(ops(), "Gather Cast Gather Mul");
}

TEST_F(GatherBeforeDequantize, PartsOfATable) {
  const Value all = dequantized(table(1024), onnx.scalar(0.5, DType::kFloat32));
  outputs({onnx.slice(all, 0, 0, s)});
  EXPECT_TRUE(run(kGatherBeforeDequantize));
  EXPECT_EQ(model.graph->last->op_type, "DequantizeLinear");
}

TEST_F(GatherBeforeDequantize, SmallTablesStay) {
  outputs({onnx.gather(dequantized(table(2), onnx.scalar(0.5, DType::kFloat32)), ids)});
  EXPECT_FALSE(run(kGatherBeforeDequantize));
}

TEST_F(GatherBeforeDequantize, WhatARunGivesStays) {
  const Value integers = input("q", {1024, 64}, DType::kInt8);
  outputs({onnx.gather(dequantized(integers, onnx.scalar(0.5, DType::kFloat32)), ids)});
  EXPECT_FALSE(run(kGatherBeforeDequantize));
}

}  // namespace
}  // namespace sardonyx::passes

#include "onnx/operators/operator.h"

#include <gtest/gtest.h>

#include "onnx/gen/op.h"
#include "onnx/gen/operators.h"

namespace sardonyx::onnx {
namespace {

// Records what the generated methods hand over.
class Recorder : public Operators {
 public:
  Op op{};
  std::vector<Value> inputs;
  std::vector<Attribute> attributes;
  std::size_t outputs = 0;

 protected:
  Values build(const Operator& o, std::span<const Value> in, std::vector<Attribute> attr,
               std::size_t out) override {
    op = o.id;
    inputs.assign(in.begin(), in.end());
    attributes = std::move(attr);
    outputs = out;
    return Values(out);
  }
};

TEST(OperatorTable, FindsVersionsByOpset) {
  const Operator* split = find_operator("Split");
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(split->at(17)->since, 13);
  EXPECT_EQ(split->at(18)->since, 18);
  EXPECT_EQ(split->at(17)->attribute("num_outputs"), nullptr);
  EXPECT_NE(split->at(18)->attribute("num_outputs"), nullptr);
  EXPECT_EQ(find_operator("Gelu")->at(19), nullptr);
  EXPECT_EQ(find_operator("Splitt"), nullptr);
  EXPECT_EQ(operator_of(Op::kLSTM).name, "LSTM");
}

TEST(OperatorTable, KnowsTypesAndDefaults) {
  const OperatorVersion* gemm = find_operator("Gemm")->at(20);
  EXPECT_EQ(gemm->min_inputs, 2);
  EXPECT_EQ(gemm->max_inputs, 3);
  EXPECT_EQ(gemm->input(0)->type_parameter, "T");
  EXPECT_TRUE(gemm->input(0)->dtypes & dtype_bit(base::DType::kFloat32));
  EXPECT_FALSE(gemm->input(0)->dtypes & dtype_bit(base::DType::kInt8));
  EXPECT_EQ(gemm->attribute("alpha")->default_float, 1.0F);
  EXPECT_TRUE(find_operator("Cast")->at(20)->attribute("to")->required);
  EXPECT_EQ(find_operator("Concat")->at(20)->input(7)->name, "inputs");
  EXPECT_EQ(ir_version_of(13), 7);
  EXPECT_EQ(ir_version_of(21), 10);
}

TEST(GeneratedEmitter, HandsOverInputsAndGivenAttributes) {
  Recorder onnx;
  ValueInfo a, b;
  onnx.gemm(&a, &b, {}, {.alpha = 0.5, .transB = true});
  EXPECT_EQ(onnx.op, Op::kGemm);
  ASSERT_EQ(onnx.inputs.size(), 3U);
  EXPECT_EQ(onnx.inputs[1].info(), &b);
  EXPECT_FALSE(onnx.inputs[2]);
  ASSERT_EQ(onnx.attributes.size(), 2U);
  EXPECT_EQ(onnx.attributes[0].name, "alpha");
  EXPECT_EQ(std::get<float>(onnx.attributes[0].data), 0.5F);
  EXPECT_EQ(std::get<std::int64_t>(onnx.attributes[1].data), 1);

  onnx.conv(&a, &b, {}, {.kernel_shape = {3, 3}, .pads = {}});
  ASSERT_EQ(onnx.attributes.size(), 1U);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(onnx.attributes[0].data),
            (std::vector<std::int64_t>{3, 3}));

  onnx.concat({&a, &b, &a}, {.axis = -1});
  EXPECT_EQ(onnx.inputs.size(), 3U);
  EXPECT_EQ(onnx.lstm_n(3, &a, &b, &b).size(), 3U);
  EXPECT_EQ(onnx.split(4, &a).size(), 4U);
  const auto [values, indices] = onnx.topk(&a, &b, {.axis = 1});
  EXPECT_FALSE(values || indices);
  EXPECT_EQ(onnx.outputs, 2U);
}

}  // namespace
}  // namespace sardonyx::onnx

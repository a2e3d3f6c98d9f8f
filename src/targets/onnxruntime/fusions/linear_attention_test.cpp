#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Value;

class LinearAttention : public rewriting::RulesTest {
 protected:
  std::array<Value, 2> attention(base::DType type, base::DType state) {
    return onnx.linear_attention(input("q", {b, 4, 8}, type), input("k", {b, 4, 8}, type),
                                 input("v", {b, 4, 6}, type), input("past", {b, 2, 4, 3}, state),
                                 input("g", {b, 4, 2}, type), input("beta", {b, 4, 2}, type),
                                 {.kv_num_heads = 2, .q_num_heads = 2});
  }
  const onnx::Node& only() const {
    EXPECT_EQ(model.graph->first, model.graph->last);
    return *model.graph->first;
  }
};

TEST_F(LinearAttention, TheRuntimeHasOneOfItsOwn) {
  const auto [y, state] = attention(kFloat32, kFloat32);
  outputs({y, state});
  EXPECT_TRUE(run(kLinearAttention));
  EXPECT_EQ(only().domain, "com.microsoft");
  EXPECT_EQ(only().int_or("kv_num_heads", 0), 2);
  EXPECT_EQ(only().inputs.size(), 6U);
}

TEST_F(LinearAttention, AStateThatNobodyReadsIsLeftOut) {
  outputs({attention(kFloat32, kFloat32)[0]});
  EXPECT_TRUE(run(kLinearAttention));
  EXPECT_EQ(only().domain, "com.microsoft");
}

TEST_F(LinearAttention, OtherTypesHaveNoKernel) {
  const auto [y, state] = attention(kFloat16, kFloat32);
  outputs({y, state});
  EXPECT_FALSE(run(kLinearAttention));
}

}  // namespace
}  // namespace sardonyx::targets

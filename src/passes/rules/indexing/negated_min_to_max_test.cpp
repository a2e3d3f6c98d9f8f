#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class NegatedMinToMax : public RulesTest {
 protected:
  Value number(std::int64_t value) { return onnx.int_scalar(value, DType::kInt64); }
  Value x = input("x", {b, s}, DType::kInt64);
  Value keys = onnx.range(number(0), onnx.size(s), number(1));
  Value queries = onnx.unsqueeze(keys, {1});
};

TEST_F(NegatedMinToMax, OfCounters) {
  outputs({onnx.neg(onnx.min({onnx.sub(keys, queries), number(0)}))});
  EXPECT_TRUE(run(kNegatedMinToMax));
  EXPECT_TRUE(model.graph->outputs[0]->producer->is("Max"));
  EXPECT_EQ(model.graph->outputs[0]->producer->input(0)->producer->input(1), keys.info());
}

TEST_F(NegatedMinToMax, OfAnythingElseStays) {
  outputs({onnx.neg(onnx.min({onnx.sub(x, keys), number(0)})),
           onnx.neg(onnx.min({onnx.sub(keys, queries), number(1)}))});
  EXPECT_FALSE(run(kNegatedMinToMax));
}

}  // namespace
}  // namespace sardonyx::passes

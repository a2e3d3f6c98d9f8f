#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;
using symbolic::Expr;

TEST_F(RulesTest, AMaskReadByRangesIsUnsqueezed) {
  const Value mask = input("mask", {b, s}, DType::kBool);
  const auto count = [&](Expr size) {
    return onnx.range(onnx.int_scalar(0), onnx.size(size), onnx.int_scalar(1));
  };
  const auto index = [&](Value range, std::initializer_list<std::int64_t> axes) {
    return onnx.unsqueeze(onnx.expand(onnx.unsqueeze(range, axes), onnx::Shape{b, 1, 1, s}), {4});
  };
  const Value indices = onnx.concat({index(count(b), {1, 2, 3}), index(count(s), {0, 1, 2})}, 4);
  outputs({onnx.not_(onnx.gather_nd(mask, indices))});
  EXPECT_TRUE(run(kGatherNdToSlice));
  EXPECT_EQ(ops(), "Unsqueeze Not");
  EXPECT_EQ(type(model.graph->first->output()), "bool[b, 1, 1, s]");
}

}  // namespace
}  // namespace sardonyx::passes

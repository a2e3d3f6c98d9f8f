#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Shape;
using onnx::Value;
using symbolic::Expr;

class RaiseDepthToSpace : public RulesTest {
 protected:
  Value image = input("image", {b, 8, s, s});
};

TEST_F(RaiseDepthToSpace, ChannelsFirstOrBlocksFirst) {
  const std::vector<std::int64_t> crd = {0, 1, 4, 2, 5, 3}, dcr = {0, 3, 4, 1, 5, 2};
  const Shape out = {b, 2, s * Expr(2), s * Expr(2)};
  outputs({onnx.reshape(onnx.transpose(onnx.reshape(image, {b, 2, 2, 2, s, s}), crd), out),
           onnx.reshape(onnx.transpose(onnx.reshape(image, {b, 2, 2, 2, s, s}), dcr), out)});
  EXPECT_TRUE(run(kRaiseDepthToSpace));
  EXPECT_EQ(model.graph->outputs[0]->producer->string_or("mode", ""), "CRD");
  EXPECT_EQ(model.graph->outputs[1]->producer->string_or("mode", ""), "DCR");
}

TEST_F(RaiseDepthToSpace, AndBack) {
  const std::vector<std::int64_t> perm = {0, 3, 5, 1, 2, 4};
  const Value large = input("large", {b, 2, s * Expr(3), s * Expr(3)});
  const Value split = onnx.reshape(large, {b, 2, s, 3, s, 3});
  outputs({onnx.reshape(onnx.transpose(split, perm), {b, 18, s, s})});
  EXPECT_TRUE(run(kRaiseDepthToSpace));
  EXPECT_TRUE(model.graph->outputs[0]->producer->is("SpaceToDepth"));
}

TEST_F(RaiseDepthToSpace, AnotherOrderStays) {
  const std::vector<std::int64_t> perm = {0, 1, 4, 3, 5, 2};
  const Value turned = onnx.transpose(onnx.reshape(image, {b, 2, 2, 2, s, s}), perm);
  outputs({onnx.reshape(turned, {b, 2, s * Expr(2), s * Expr(2)})});
  EXPECT_FALSE(run(kRaiseDepthToSpace));
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Expr;
using onnx::Value;

class ResizeByScales : public RulesTest {
 protected:
  Value resized(Expr height) {
    return onnx.resize(x, {}, {}, onnx.sizes({b, Expr(3), height, Expr(8)}), {.mode = "linear"});
  }
  Value x = input("x", {b, 3, s, 4});
};

TEST_F(ResizeByScales, WholeMultiples) {
  outputs({resized(s * 3)});
  EXPECT_TRUE(run(kResizeByScales));
  EXPECT_EQ(model.graph->last->op_type, "Resize");
  EXPECT_EQ(model.graph->last->input(3), nullptr);
  EXPECT_EQ(reals(model.graph->last->input(2)), (std::vector<double>{1, 1, 3, 2}));
  EXPECT_EQ(model.graph->last->string_or("mode", ""), "linear");
}

TEST_F(ResizeByScales, OtherSizesStay) {
  outputs({resized(s + 1), resized(symbolic::floor_div(s, Expr(2)))});
  EXPECT_FALSE(run(kResizeByScales));
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/dense/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;
using symbolic::Expr;

struct FlattenProducts : RulesTest {
  Value x = input("x", {b, 2, 3, 4});
  Value windows = onnx.reshape(x, {b * Expr(2), Expr(3), Expr(4)});
  int count = 0;

  Value product(Value of) {
    const std::string name = std::to_string(count++);
    return onnx.add(onnx.matmul(of, weight("w" + name, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})),
                    weight("b" + name, {2}, {1, 2}));
  }
  Value apart(Value of) { return onnx.reshape(of, {b * Expr(2), Expr(3), Expr(1), Expr(2)}); }
};

TEST_F(FlattenProducts, ProductsOfWindowsAreOfRows) {
  const Value query = apart(product(windows)), key = apart(product(windows));
  outputs({query, key});
  const std::string name = query->name;
  EXPECT_TRUE(run(kFlattenProducts)) << reason();
  EXPECT_EQ(ops(), "Reshape Gemm Reshape Gemm Reshape");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{-1, 4}));
  const onnx::ValueInfo* made = model.graph->outputs[0];
  EXPECT_EQ(made->name, name);
  EXPECT_EQ(reals(made->producer->input(1)), (std::vector<double>{-1, 3, 1, 2}));
  EXPECT_EQ(made->shape.size(), 4U);
}

TEST_F(FlattenProducts, WindowsThatAnythingElseReadsStay) {
  outputs({apart(product(windows)), onnx.relu(windows)});
  EXPECT_FALSE(run(kFlattenProducts));
}

TEST_F(FlattenProducts, SumsThatAreReadAsTheyAreStay) {
  outputs({product(windows)});
  EXPECT_FALSE(run(kFlattenProducts));
}

TEST_F(FlattenProducts, TwoOpenSizesStay) {
  const Value open = input("open", {b, s, 3, 4});
  const Value sum = product(onnx.reshape(open, {b * s, Expr(3), Expr(4)}));
  outputs({onnx.reshape(sum, {b, s, Expr(3), Expr(2)})});
  EXPECT_FALSE(run(kFlattenProducts));
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class DropUnitAxesAroundTranspose : public RulesTest {
 protected:
  Value turned(std::vector<std::int64_t> made, std::vector<std::int64_t> perm,
               std::vector<std::int64_t> taken) {
    return onnx.squeeze(
        onnx.transpose(onnx.unsqueeze(x, onnx.ints(std::move(made))), {.perm = std::move(perm)}),
        onnx.ints(std::move(taken)));
  }
  Value x = input("x", {b, s, 3, 1});
};

TEST_F(DropUnitAxesAroundTranspose, AnAxisThatHeldAPlace) {
  outputs({turned({0}, {3, 1, 2, 0, 4}, {-2})});
  EXPECT_TRUE(run(kDropUnitAxesAroundTranspose));
  EXPECT_EQ(ops(), "Transpose");
  EXPECT_EQ(*model.graph->last->ints("perm"), (std::vector<std::int64_t>{2, 0, 1, 3}));
}

TEST_F(DropUnitAxesAroundTranspose, TwoOfThem) {
  outputs({turned({0, -1}, {5, 3, 2, 1, 0, 4}, {0, 4})});
  EXPECT_TRUE(run(kDropUnitAxesAroundTranspose));
  EXPECT_EQ(*model.graph->last->ints("perm"), (std::vector<std::int64_t>{2, 1, 0, 3}));
}

TEST_F(DropUnitAxesAroundTranspose, AnotherAxisThatGoesStays) {
  outputs({turned({0}, {3, 1, 2, 0, 4}, {4})});
  EXPECT_FALSE(run(kDropUnitAxesAroundTranspose));
}

}  // namespace
}  // namespace sardonyx::passes

#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class SplitPackedParts : public RulesTest {
 protected:
  Value gathered(Value of, std::int64_t place, std::int64_t axis) {
    return onnx.gather(of, onnx.int_scalar(place, onnx::DType::kInt64), {.axis = axis});
  }
  Value squeezed(Value of, std::int64_t axis) { return onnx.squeeze(of, onnx.ints({axis})); }
  Value x = input("x", {b, s, 48});
  // The parts in front.
  Value heads(std::vector<std::int64_t> perm = {2, 0, 3, 1, 4}) {
    return onnx.transpose(onnx.reshape(x, {b, s, 3, 2, 8}), {.perm = std::move(perm)});
  }
};

TEST_F(SplitPackedParts, HeadsThatAreAttendedTo) {
  const Value t = heads();
  outputs({onnx.attention(gathered(t, 0, 0), gathered(t, 1, 0), gathered(t, -1, 0))});
  EXPECT_TRUE(run(kSplitPackedParts));
  EXPECT_EQ(ops(), "Split Reshape Transpose Reshape Transpose Reshape Transpose Attention");
}

TEST_F(SplitPackedParts, ToldApartByASplit) {
  const onnx::Values parts = onnx.split(3, heads(), onnx.ints({1, 1, 1}), {.axis = 0});
  outputs({onnx.attention(squeezed(parts[0], 0), squeezed(parts[1], 0), squeezed(parts[2], 0))});
  EXPECT_TRUE(run(kSplitPackedParts));
  EXPECT_EQ(ops(), "Split Reshape Transpose Reshape Transpose Reshape Transpose Attention");
}

TEST_F(SplitPackedParts, PartsThatLieSideBySide) {
  const Value t = onnx.transpose(onnx.reshape(x, {b, s, 3, 16}),
                                 {.perm = std::vector<std::int64_t>{2, 0, 1, 3}});
  outputs({gathered(t, 2, 0), gathered(t, 0, 0), gathered(t, 1, 0)});
  EXPECT_TRUE(run(kSplitPackedParts));
  EXPECT_EQ(ops(), "Split");
  EXPECT_EQ(model.graph->outputs[0], model.graph->first->outputs[2]);
}

TEST_F(SplitPackedParts, WithoutATransposition) {
  const Value t = onnx.reshape(x, {b, s, 2, 24});
  outputs({gathered(t, 0, 2), gathered(t, 1, 2)});
  EXPECT_TRUE(run(kSplitPackedParts));
  EXPECT_EQ(ops(), "Split");
}

TEST_F(SplitPackedParts, HeadsThatOthersReadStay) {
  const Value t = heads();
  const Value q = gathered(t, 0, 0);
  outputs({onnx.attention(q, gathered(t, 1, 0), gathered(t, 2, 0)), onnx.neg(q)});
  EXPECT_FALSE(run(kSplitPackedParts));
  EXPECT_EQ(reason(), "its parts would be put in order each for itself");
}

TEST_F(SplitPackedParts, PartsWithinTheHeadsStay) {
  const Value t = onnx.transpose(onnx.reshape(x, {b, s, 2, 3, 8}),
                                 {.perm = std::vector<std::int64_t>{3, 0, 2, 1, 4}});
  outputs({onnx.attention(gathered(t, 0, 0), gathered(t, 1, 0), gathered(t, 2, 0))});
  EXPECT_FALSE(run(kSplitPackedParts));
}

TEST_F(SplitPackedParts, APartThatNobodyReadsStays) {
  const Value t = onnx.transpose(onnx.reshape(x, {b, s, 3, 16}),
                                 {.perm = std::vector<std::int64_t>{2, 0, 1, 3}});
  outputs({gathered(t, 2, 0), gathered(t, 0, 0)});
  EXPECT_FALSE(run(kSplitPackedParts));
}

}  // namespace
}  // namespace sardonyx::passes

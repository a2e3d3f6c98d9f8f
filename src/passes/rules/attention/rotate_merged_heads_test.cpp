#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class RotateMergedHeads : public RulesTest {
 protected:
  Value x = input("x", {b, s, 24});
  Value cosine = input("cosine", {b, s, 3}), sine = input("sine", {b, s, 3});
  Value apart = onnx.transpose(onnx.reshape(x, {b, s, 4, 6}), {0, 2, 1, 3});
};

TEST_F(RotateMergedHeads, HeadsAreTurnedSideBySide) {
  outputs({onnx.relu(onnx.rotary_embedding(apart, cosine, sine))});
  EXPECT_TRUE(run(kRotateMergedHeads));
  EXPECT_EQ(ops(), "RotaryEmbedding Reshape Transpose Relu");
  const onnx::Node* rotation = model.graph->first;
  EXPECT_EQ(rotation->input(0), x.info());
  EXPECT_EQ(rotation->int_or("num_heads", 0), 4);
}

TEST_F(RotateMergedHeads, HeadsThatAreReadUnturnedStay) {
  outputs({onnx.relu(onnx.rotary_embedding(apart, cosine, sine)), apart});
  EXPECT_FALSE(run(kRotateMergedHeads));
  EXPECT_EQ(reason(), "something else reads the heads before they are turned");
}

TEST_F(RotateMergedHeads, NormalizedHeadsAreJoinedFirst) {
  const Value normal = onnx.rms_normalization(onnx.reshape(x, {b, s, 4, 6}),
                                              weight("scale", {6}, {1, 1, 1, 1, 1, 1}));
  const Value heads = onnx.transpose(normal, {0, 2, 1, 3});
  outputs({onnx.relu(onnx.rotary_embedding(heads, cosine, sine))});
  EXPECT_TRUE(run(kRotateMergedHeads));
  // Those of `apart` first.
  EXPECT_EQ(ops(),
            "Reshape Transpose RMSNormalization Reshape RotaryEmbedding Reshape Transpose Relu");
}

TEST_F(RotateMergedHeads, HeadsThatCameApartStay) {
  outputs({onnx.relu(onnx.rotary_embedding(input("y", {b, 4, s, 6}), cosine, sine))});
  EXPECT_FALSE(run(kRotateMergedHeads));
}

}  // namespace
}  // namespace sardonyx::passes

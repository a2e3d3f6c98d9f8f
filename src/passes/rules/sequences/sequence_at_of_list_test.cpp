#include "passes/rules/sequences/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class SequenceAtOfList : public RulesTest {
 protected:
  Value taken(std::int64_t place) {
    return onnx.sequence_at(onnx.sequence_construct(std::vector{input("x", {b, 4}), y}),
                            onnx.int_scalar(place, onnx::DType::kInt64));
  }
  Value y = input("y", {b, 5});
};

TEST_F(SequenceAtOfList, AnElement) {
  outputs({taken(1)});
  EXPECT_TRUE(run(kSequenceAtOfList));
  EXPECT_EQ(ops(), "Identity");
  EXPECT_EQ(model.graph->last->inputs[0], y.info());
}

TEST_F(SequenceAtOfList, FromBehind) {
  outputs({taken(-1)});
  EXPECT_TRUE(run(kSequenceAtOfList));
  EXPECT_EQ(model.graph->last->inputs[0], y.info());
}

TEST_F(SequenceAtOfList, APlaceThatThereIsNotStays) {
  outputs({taken(2)});
  EXPECT_FALSE(run(kSequenceAtOfList));
}

}  // namespace
}  // namespace sardonyx::passes

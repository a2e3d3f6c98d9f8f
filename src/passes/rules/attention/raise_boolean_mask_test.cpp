#include <limits>

#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

struct RaiseBooleanMask : RulesTest {
  Value seen = input("seen", {b, 1, s, s}, DType::kBool);

  Value attended(Value mask) {
    const Value q = input("q", {b, 2, s, 4}), k = input("k", {b, 2, s, 4}),
                v = input("v", {b, 2, s, 4});
    return onnx.attention(q, k, v, mask);
  }
  Value added(double hidden) {
    return onnx.where(seen, onnx.zero(DType::kFloat32), onnx.scalar(hidden, DType::kFloat32));
  }
};

TEST_F(RaiseBooleanMask, MinusInfinityIsNotSeen) {
  outputs({attended(added(-std::numeric_limits<double>::infinity()))});
  EXPECT_TRUE(run(kRaiseBooleanMask));
  EXPECT_EQ(model.graph->last->input(3), seen.info());
}

TEST_F(RaiseBooleanMask, ALowNumberIsStillAttendedToWhereAllAreLow) {
  outputs({attended(added(-1e30))});
  EXPECT_FALSE(run(kRaiseBooleanMask));
}

}  // namespace
}  // namespace sardonyx::passes

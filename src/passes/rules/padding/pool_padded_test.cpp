#include <limits>

#include "passes/rules/padding/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class PoolPadded : public RulesTest {
 protected:
  using Ints = std::vector<std::int64_t>;
  Value x = input("x", {b, 2, 8});
  Value infinity = onnx.scalar(-std::numeric_limits<double>::infinity(), DType::kFloat32);

  Value padded(Value of, Value fill = {}) {
    return onnx.pad(of, onnx.ints({0, 0, 1, 0, 0, 2}), fill);
  }
  Ints pads() const { return *model.graph->last->ints("pads"); }
};

TEST_F(PoolPadded, AMeanCountsTheZeros) {
  outputs({onnx.average_pool(padded(x), {.kernel_shape = {3}})});
  EXPECT_TRUE(run(kPoolPadded));
  EXPECT_EQ(ops(), "AveragePool");
  EXPECT_EQ(pads(), (Ints{1, 2}));
  EXPECT_EQ(model.graph->first->int_or("count_include_pad", 0), 1);
}

TEST_F(PoolPadded, ZerosThatAreNotCountedStay) {
  outputs({onnx.average_pool(padded(x), {.kernel_shape = {4}, .pads = Ints{1, 1}})});
  EXPECT_FALSE(run(kPoolPadded));
  EXPECT_EQ(reason(), "it counts the zeros of the Pad, and not its own");
}

TEST_F(PoolPadded, AMaximumOfMinusInfinities) {
  outputs({onnx.max_pool(padded(x, infinity), {.kernel_shape = {4}, .pads = Ints{1, 1}})});
  EXPECT_TRUE(run(kPoolPadded));
  EXPECT_EQ(ops(), "MaxPool");
  EXPECT_EQ(pads(), (Ints{2, 3}));
}

TEST_F(PoolPadded, ZerosRoundWhatIsNotBelow) {
  outputs({onnx.max_pool(padded(onnx.relu(x)), {.kernel_shape = {3}})});
  EXPECT_TRUE(run(kPoolPadded));
  EXPECT_EQ(ops(), "Relu MaxPool");
}

TEST_F(PoolPadded, ZerosRoundAnythingStay) {
  outputs({onnx.max_pool(padded(x), {.kernel_shape = {3}})});
  EXPECT_FALSE(run(kPoolPadded));
  EXPECT_EQ(reason(), "the Pad fills with what may be the greatest");
}

TEST_F(PoolPadded, PlacesStay) {
  const auto both = onnx.max_pool_n(2, padded(x, infinity), {.kernel_shape = {3}});
  outputs({both[0], both[1]});
  EXPECT_FALSE(run(kPoolPadded));
  EXPECT_EQ(reason(), "its places count what is padded");
}

TEST_F(PoolPadded, AWindowOfPaddingStays) {
  outputs({onnx.average_pool(padded(x), {.kernel_shape = {2}})});
  EXPECT_FALSE(run(kPoolPadded));
  EXPECT_EQ(reason(), "a window would hold padding alone");
}

TEST_F(PoolPadded, RoundingUpStays) {
  outputs(
      {onnx.average_pool(padded(x), {.ceil_mode = 1, .kernel_shape = {3}, .strides = Ints{2}})});
  EXPECT_FALSE(run(kPoolPadded));
}

}  // namespace
}  // namespace sardonyx::passes

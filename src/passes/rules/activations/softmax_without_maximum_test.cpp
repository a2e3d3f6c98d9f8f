#include <limits>

#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class SoftmaxWithoutMaximum : public RulesTest {
 protected:
  Value x = input("x", {b, s});

  Value softmax_less(Value most) { return onnx.softmax(onnx.sub(x, most), {.axis = 1}); }
  // By its place, where NaN counts as the most.
  Value gathered(Value of) {
    const Value wide = onnx.cast(of, DType::kFloat64);
    const Value infinity = onnx.scalar(std::numeric_limits<double>::infinity(), DType::kFloat64);
    const Value least =
        onnx.min({wide, onnx.scalar(std::numeric_limits<double>::max(), DType::kFloat64)});
    const Value place = onnx.arg_max(onnx.where(onnx.is_nan(wide), infinity, least), {.axis = 1});
    return onnx.gather_elements(x, place, {.axis = 1});
  }
};

TEST_F(SoftmaxWithoutMaximum, AReduction) {
  outputs({softmax_less(onnx.reduce_max(x, onnx.ints({-1})))});
  EXPECT_TRUE(run(kSoftmaxWithoutMaximum));
  EXPECT_EQ(ops(), "Softmax");
}

TEST_F(SoftmaxWithoutMaximum, OneThatIsGathered) {
  outputs({softmax_less(gathered(x))});
  EXPECT_TRUE(run(kSoftmaxWithoutMaximum));
  EXPECT_EQ(ops(), "Softmax");
}

TEST_F(SoftmaxWithoutMaximum, AReductionThatIsNaNWhereAnyElementIs) {
  const Value sum = onnx.reduce_sum(onnx.mul(x, x), onnx.ints({1}));
  const Value most = onnx.where(onnx.is_nan(sum), sum, onnx.reduce_max(x, onnx.ints({1})));
  outputs({softmax_less(most)});
  EXPECT_TRUE(run(kSoftmaxWithoutMaximum));
  EXPECT_EQ(ops(), "Softmax");
}

TEST_F(SoftmaxWithoutMaximum, ThePlacesOfAnotherMaximumStay) {
  outputs({softmax_less(gathered(input("z", {b, s})))});
  EXPECT_FALSE(run(kSoftmaxWithoutMaximum));
}

TEST_F(SoftmaxWithoutMaximum, AnotherAxisStays) {
  outputs({softmax_less(onnx.reduce_max(x, onnx.ints({0})))});
  EXPECT_FALSE(run(kSoftmaxWithoutMaximum));
}

}  // namespace
}  // namespace sardonyx::passes

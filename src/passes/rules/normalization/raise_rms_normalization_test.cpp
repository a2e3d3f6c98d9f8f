#include "passes/rules/normalization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseRmsNormalization : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value deviation(Value of, double epsilon, std::vector<std::int64_t> axes = {-1}) {
    const Value mean = onnx.reduce("ReduceMean", onnx.mul(of, of), axes, true);
    return onnx.sqrt(onnx.add(mean, onnx.scalar_like(epsilon, of)));
  }
};

TEST_F(RaiseRmsNormalization, ProductWithTheInverse) {
  outputs({onnx.mul(x, onnx.reciprocal(deviation(x, 1e-6)))});
  EXPECT_TRUE(run(kRaiseRmsNormalization));
  EXPECT_EQ(ops(), "RMSNormalization");
  const onnx::Node* node = model.graph->first;
  EXPECT_EQ(node->float_or("epsilon", 0), 1e-6F);
  EXPECT_EQ(node->int_or("axis", 0), -1);
  EXPECT_EQ(node->input(0), x.info());
  EXPECT_EQ(reals(node->input(1)), (std::vector<double>{1, 1, 1, 1}));
}

TEST_F(RaiseRmsNormalization, QuotientOfAPower) {
  const std::vector<std::int64_t> last = {2};
  const Value square = onnx.pow(x, onnx.scalar(2, DType::kFloat32));
  const Value mean = onnx.reduce("ReduceMean", square, last, true);
  const Value root = onnx.sqrt(onnx.add(onnx.scalar(1e-5, DType::kFloat32), mean));
  outputs({onnx.div(x, root)});
  EXPECT_TRUE(run(kRaiseRmsNormalization));
  EXPECT_EQ(ops(), "RMSNormalization");
}

TEST_F(RaiseRmsNormalization, SeveralOfTheLastAxes) {
  const Value z = input("z", {b, 3, 2});
  outputs({onnx.div(z, deviation(z, 1e-5, {2, 1}))});
  EXPECT_TRUE(run(kRaiseRmsNormalization));
  EXPECT_EQ(model.graph->first->int_or("axis", 0), -2);
}

TEST_F(RaiseRmsNormalization, AnotherTensorStays) {
  outputs({onnx.div(x, deviation(input("y", {b, s, 4}), 1e-6))});
  EXPECT_FALSE(run(kRaiseRmsNormalization));
}

TEST_F(RaiseRmsNormalization, DeclinesAnotherAxis) {
  outputs({onnx.div(x, deviation(x, 1e-6, {1}))});
  EXPECT_FALSE(run(kRaiseRmsNormalization));
  EXPECT_EQ(reason(), "the axes are not the last ones");
}

TEST_F(RaiseRmsNormalization, DeclinesWhatIsReadElsewhere) {
  const Value root = deviation(x, 1e-6);
  outputs({onnx.div(x, root), root});
  EXPECT_FALSE(run(kRaiseRmsNormalization));
  EXPECT_EQ(reason(), "'Sqrt' is read elsewhere, too");
}

TEST_F(RaiseRmsNormalization, DeclinesSizesThatVary) {
  const Value z = input("z", {4, s});
  outputs({onnx.div(z, deviation(z, 1e-6))});
  EXPECT_FALSE(run(kRaiseRmsNormalization));
  EXPECT_EQ(reason(), "the sizes that are normalized over are not constant");
}

TEST_F(RaiseRmsNormalization, DeclinesAnEpsilonOfDouble) {
  const Value d = input("d", {b, 4}, DType::kFloat64);
  outputs({onnx.div(d, deviation(d, 1e-6))});
  EXPECT_FALSE(run(kRaiseRmsNormalization));
  EXPECT_EQ(reason(), "float32, the type of the attribute, does not hold epsilon");
}

}  // namespace
}  // namespace sardonyx::passes

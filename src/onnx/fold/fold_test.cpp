#include "onnx/fold/fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>

#include "onnx/emit/emit.h"
#include "symbolic/expr.h"

namespace sardonyx::onnx {
namespace {

class Fold : public testing::Test {
 protected:
  ValueInfo* ints(std::vector<std::int64_t> values, std::vector<std::int64_t> dims) {
    return model_.add_constant(Tensor::of_ints(values, std::move(dims)));
  }
  ValueInfo* vector(std::vector<std::int64_t> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return ints(std::move(values), {count});
  }
  ValueInfo* filled(DType dtype, double value) {
    return model_.add_constant(Tensor::filled(dtype, {}, value));
  }
  std::vector<Tensor> run(std::string op, std::vector<ValueInfo*> inputs,
                          std::vector<Attribute> attributes = {}) {
    Node node;
    node.op_type = std::move(op);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    return fold(node);
  }
  std::vector<std::int64_t> values(const std::vector<Tensor>& result) {
    return result.empty() ? std::vector<std::int64_t>{-999} : *result.front().ints();
  }

  Model model_{std::make_shared<symbolic::Pool>()};
};

TEST_F(Fold, IntegersWrapAround) {
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(values(run("Add", {vector({most}), vector({1})}))[0],
            std::numeric_limits<std::int64_t>::min());
}

TEST_F(Fold, DivisionRoundsTowardsZeroAndLeavesZeroDivisorsAlone) {
  EXPECT_EQ(values(run("Div", {vector({-7}), vector({2})})), std::vector<std::int64_t>{-3});
  EXPECT_TRUE(run("Div", {vector({1}), vector({0})}).empty());
  EXPECT_EQ(values(run("Mod", {vector({-7, 7}), vector({3, -3})})),
            (std::vector<std::int64_t>{2, -2}));
}

TEST_F(Fold, TheGreaterOfTwoRealsIsNaNWhereOneIs) {
  const auto real = [&](std::string_view op, double x, double y) {
    return run(std::string(op), {filled(DType::kFloat32, x), filled(DType::kFloat32, y)})
        .at(0)
        .reals()
        ->at(0);
  };
  EXPECT_EQ(real("Max", -1, 2.5), 2.5);
  EXPECT_EQ(real("Min", -1, 2.5), -1);
  EXPECT_FALSE(std::signbit(real("Max", -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(real("Min", 0.0, -0.0)));
  EXPECT_TRUE(std::isnan(real("Max", std::nan(""), 2)));
  EXPECT_TRUE(std::isnan(real("Min", 2, std::nan(""))));
}

TEST_F(Fold, RangesOfRealsAreComputedWhereNothingIsRounded) {
  const auto range = [&](DType dtype, double start, double limit, double delta) {
    return run("Range", {filled(dtype, start), filled(dtype, limit), filled(dtype, delta)});
  };
  const auto quarters = range(DType::kFloat16, -0.5, 0.3125, 0.25);
  EXPECT_EQ(*quarters.at(0).reals(), (std::vector<double>{-0.5, -0.25, 0, 0.25}));
  EXPECT_EQ(quarters.at(0).dtype, DType::kFloat16);
  EXPECT_EQ(range(DType::kFloat32, 1, 1, 0.5).at(0).element_count(), 0);
  EXPECT_TRUE(range(DType::kFloat32, 0, 1, 0.1).empty());               // 0.1 is rounded
  EXPECT_TRUE(range(DType::kFloat32, -1, 16777216, 16777216).empty());  // and so is the span
  EXPECT_TRUE(range(DType::kFloat32, 0, 1, 0).empty());
  EXPECT_EQ(values(range(DType::kInt32, 3, -2, -2)), (std::vector<std::int64_t>{3, 1, -1}));
}

TEST_F(Fold, FloatsOutOfRangeAreNotConvertedToIntegers) {
  const Attribute to{"to", DType::kInt32, {}};
  EXPECT_TRUE(run("Cast", {filled(DType::kFloat32, 1e20)}, {to}).empty());
  EXPECT_TRUE(run("Cast", {filled(DType::kFloat32, std::nan(""))}, {to}).empty());
  EXPECT_EQ(values(run("Cast", {filled(DType::kFloat32, -2.9)}, {to})),
            std::vector<std::int64_t>{-2});
}

TEST_F(Fold, FloatsRoundToTheirType) {
  const auto sum = run("Add", {filled(DType::kFloat32, 1), filled(DType::kFloat32, 1e-9)});
  EXPECT_EQ(sum.front().reals()->front(), 1.0);
}

TEST_F(Fold, SliceCountsAsOnnxDoes) {
  ValueInfo* x = vector({0, 1, 2, 3, 4, 5});
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(values(run("Slice", {x, vector({-2}), vector({100})})),
            (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(values(run("Slice", {x, vector({-1}), vector({lowest}), vector({0}), vector({-2})})),
            (std::vector<std::int64_t>{5, 3, 1}));
  EXPECT_EQ(run("Slice", {x, vector({4}), vector({2})}).front().element_count(), 0);
}

TEST_F(Fold, GatherNdReadsAtPlacesCountedFromTheFront) {
  ValueInfo* x = ints({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(values(run("GatherND", {x, ints({1, -1, 0, 0}, {2, 2})})),
            (std::vector<std::int64_t>{6, 1}));
  EXPECT_EQ(values(run("GatherND", {x, ints({1}, {1, 1})})), (std::vector<std::int64_t>{4, 5, 6}));
  EXPECT_TRUE(run("GatherND", {x, ints({2}, {1, 1})}).empty());
}

TEST_F(Fold, CumSumAddsUpAlongItsAxis) {
  ValueInfo* x = ints({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(values(run("CumSum", {x, ints({0}, {})})),
            (std::vector<std::int64_t>{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(values(run("CumSum", {x, ints({-1}, {})})),
            (std::vector<std::int64_t>{1, 3, 6, 4, 9, 15}));
  EXPECT_TRUE(run("CumSum", {x, ints({1}, {})}, {{"reverse", std::int64_t{1}, {}}}).empty());
}

TEST_F(Fold, CumProdMultipliesAlongItsAxis) {
  ValueInfo* x = ints({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(values(run("CumProd", {x, ints({0}, {})})),
            (std::vector<std::int64_t>{1, 2, 3, 4, 10, 18}));
  EXPECT_TRUE(run("CumProd", {x, ints({1}, {})}, {{"exclusive", std::int64_t{1}, {}}}).empty());
}

TEST_F(Fold, ShiftsBits) {
  const auto shifted = [&](std::vector<std::int64_t> by, std::string direction) {
    return values(run("BitShift", {vector({-7, 5}), vector(std::move(by))},
                      {{"direction", std::move(direction), {}}}));
  };
  EXPECT_EQ(shifted({1}, "RIGHT"), (std::vector<std::int64_t>{-4, 2}));
  EXPECT_EQ(shifted({1, 62}, "LEFT"), (std::vector<std::int64_t>{-14, std::int64_t{1} << 62}));
  EXPECT_EQ(shifted({64}, "LEFT"), std::vector<std::int64_t>{-999}) << "open in the standard";
}

TEST_F(Fold, CastsBits) {
  ValueInfo* const one = filled(DType::kFloat32, 1);
  EXPECT_EQ(values(run("BitCast", {one}, {{"to", std::int64_t{6}, {}}})),
            std::vector<std::int64_t>{0x3f800000});
  EXPECT_TRUE(run("BitCast", {one}, {{"to", std::int64_t{7}, {}}}).empty()) << "another width";
}

TEST_F(Fold, MovesElements) {
  ValueInfo* x = ints({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(values(run("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}, {}}})),
            (std::vector<std::int64_t>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values(run("Gather", {x, ints({-1}, {})}, {{"axis", std::int64_t{1}, {}}})),
            (std::vector<std::int64_t>{3, 6}));
  EXPECT_EQ(values(run("Concat", {x, x}, {{"axis", std::int64_t{1}, {}}})),
            (std::vector<std::int64_t>{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(run("Reshape", {x, vector({0, -1, 1})}).front().dims,
            (std::vector<std::int64_t>{2, 3, 1}));
  EXPECT_TRUE(run("Gather", {x, ints({3}, {})}, {{"axis", std::int64_t{1}, {}}}).empty());
}

TEST_F(Fold, BroadcastsAndReduces) {
  ValueInfo* x = ints({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(values(run("Mul", {x, vector({10, 100})})),
            (std::vector<std::int64_t>{10, 200, 30, 400}));
  const auto sum = run("ReduceSum", {x, vector({1})}, {{"keepdims", std::int64_t{0}, {}}});
  EXPECT_EQ(values(sum), (std::vector<std::int64_t>{3, 7}));
  EXPECT_EQ(sum.front().dims, (std::vector<std::int64_t>{2}));
}

TEST_F(Fold, SumsOfWholeNumbersAreExactInAnyOrder) {
  const auto sum = [&](std::vector<float> values) {
    const auto bytes = std::as_bytes(std::span(values));
    ValueInfo* x = model_.add_constant(
        Tensor::of_bytes(DType::kFloat32, {static_cast<std::int64_t>(values.size())}, bytes));
    return run("ReduceSum", {x, vector({0})}, {{"keepdims", std::int64_t{0}, {}}});
  };
  ASSERT_EQ(sum({3, -1, 0}).size(), 1U);
  EXPECT_EQ(sum({3, -1, 0}).front().reals()->front(), 2);
  EXPECT_TRUE(sum({0.5F, 1}).empty());
  EXPECT_TRUE(sum({-0.0F, -0.0F}).empty());
  EXPECT_TRUE(sum({16777216, 1}).empty());
}

TEST_F(Fold, WeightsAreLeftAlone) {
  ValueInfo* weight = model_.add_weight("w", Tensor::of_ints(std::vector<std::int64_t>{1}, {1}));
  EXPECT_TRUE(run("Add", {weight, vector({1})}).empty());
}

TEST_F(Fold, AttributesOfOlderVersionsAreHeeded) {
  const auto list = [](std::string name, std::vector<std::int64_t> of) {
    return Attribute{std::move(name), std::move(of), {}};
  };
  EXPECT_EQ(values(run("Slice", {ints({1, 2, 3, 4, 5, 6}, {2, 3})},
                       {list("starts", {1}), list("ends", {9}), list("axes", {1})})),
            (std::vector<std::int64_t>{2, 3, 5, 6}));
  const auto wide = run("Unsqueeze", {vector({1, 2})}, {list("axes", {0})});
  EXPECT_EQ(wide.front().dims, (std::vector<std::int64_t>{1, 2}));
  const auto narrow = run("Squeeze", {ints({1, 2}, {1, 2})}, {list("axes", {0})});
  EXPECT_EQ(narrow.front().dims, (std::vector<std::int64_t>{2}));
  Node split;
  split.op_type = "Split";
  split.inputs = {vector({1, 2, 3, 4})};
  split.outputs = {nullptr, nullptr};
  split.attributes = {list("split", {1, 3})};
  EXPECT_EQ(fold(split).back().dims, (std::vector<std::int64_t>{3}));
}

TEST_F(Fold, ATriangleKeepsItsDiagonal) {
  EXPECT_EQ(values(run("Trilu", {ints({1, 2, 3, 4, 5, 6}, {2, 3}), vector({0})},
                       {{"upper", std::int64_t{0}, {}}})),
            (std::vector<std::int64_t>{1, 0, 0, 4, 5, 0}));
  EXPECT_EQ(values(run("Trilu", {ints({1, 2, 3, 4}, {2, 2}), vector({1})})),
            (std::vector<std::int64_t>{0, 2, 0, 0}));
}

TEST_F(Fold, OuterProductsAloneAreFolded) {
  const auto reals = [&](std::vector<float> values, std::vector<std::int64_t> dims) {
    return model_.add_constant(
        Tensor::of_bytes(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values))));
  };
  const Attribute equation{"equation", std::string("i, j -> ji"), {}};
  const auto turned = run("Einsum", {reals({1, 2}, {2}), reals({3, 4, 5}, {3})}, {equation});
  ASSERT_EQ(turned.size(), 1U);
  EXPECT_EQ(turned[0].dims, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(turned[0].reals(), (std::vector<double>{3, 6, 4, 8, 5, 10}));
  const auto product = run("MatMul", {reals({1, 2}, {2, 1}), reals({3, 4}, {1, 2})});
  ASSERT_EQ(product.size(), 1U);
  EXPECT_EQ(product[0].reals(), (std::vector<double>{3, 4, 6, 8}));
  EXPECT_TRUE(run("MatMul", {reals({1, 2}, {1, 2}), reals({3, 4}, {2, 1})}).empty());
  const Attribute sum{"equation", std::string("i,i->"), {}};
  EXPECT_TRUE(run("Einsum", {reals({1, 2}, {2}), reals({3, 4}, {2})}, {sum}).empty());
}

TEST_F(Fold, FunctionsAreFoldedWhereAModelIsOptimized) {
  Node node;
  node.op_type = "Cos";
  node.inputs = {filled(DType::kFloat32, 0)};
  EXPECT_TRUE(fold(node).empty());
  EXPECT_EQ(fold(node, Weights::kFold).front().reals(), std::vector<double>{1});
  node.op_type = "Pow";
  node.inputs = {filled(DType::kFloat32, 10000), filled(DType::kFloat32, 0.5)};
  EXPECT_EQ(fold(node, Weights::kFold).front().reals(), std::vector<double>{100});
}

class FoldOfWeights : public Fold {
 protected:
  ValueInfo* weight(std::vector<std::int64_t> dims, std::vector<float> values) {
    ValueInfo* const made = model_.add_constant(
        Tensor::of_bytes(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values))));
    return made;
  }
  std::vector<double> of_weights(std::string op, std::vector<ValueInfo*> inputs,
                                 std::vector<Attribute> attributes = {}) {
    Node node;
    node.op_type = std::move(op);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    const std::vector<Tensor> result = fold(node, Weights::kFold);
    return result.empty() ? std::vector<double>{-999} : *result.front().reals();
  }
};

TEST_F(FoldOfWeights, ProductsOfMatrices) {
  ValueInfo* const a = weight({2, 2}, {1, 2, 3, 4});
  ValueInfo* const b = weight({2, 1}, {10, 100});
  EXPECT_EQ(of_weights("MatMul", {a, b}), (std::vector<double>{210, 430}));
  EXPECT_EQ(of_weights("Gemm", {a, b}, {{"transA", std::int64_t{1}, {}}}),
            (std::vector<double>{310, 420}));
  EXPECT_TRUE(run("MatMul", {a, b}).empty()) << "sums of real numbers, of the code";
}

TEST_F(FoldOfWeights, Functions) {
  ValueInfo* const x = weight({4}, {-2, 0, 0.5, 2.5});
  EXPECT_EQ(of_weights("Relu", {x}), (std::vector<double>{0, 0, 0.5, 2.5}));
  EXPECT_EQ(of_weights("Round", {x}), (std::vector<double>{-2, 0, 0, 2}));
  EXPECT_EQ(of_weights("Clip", {x, filled(DType::kFloat32, -1), filled(DType::kFloat32, 1)}),
            (std::vector<double>{-1, 0, 0.5, 1}));
  EXPECT_EQ(of_weights("Swish", {x})[1], 0);
  EXPECT_EQ(of_weights("Softmax", {weight({1, 2}, {3, 3})}), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(of_weights("CumSum", {x, ints({0}, {})}), (std::vector<double>{-2, -2, -1.5, 1}));
}

TEST_F(Fold, Placement) {
  EXPECT_EQ(values(run("Tile", {ints({1, 2}, {1, 2}), vector({2, 2})})),
            (std::vector<std::int64_t>{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(values(run("OneHot", {vector({1, -1, 5}), vector({2}), vector({7, 9})})),
            (std::vector<std::int64_t>{7, 9, 7, 9, 7, 7}));
  EXPECT_EQ(values(run("EyeLike", {ints({0, 0, 0, 0}, {2, 2})})),
            (std::vector<std::int64_t>{1, 0, 0, 1}));
  EXPECT_EQ(values(run("Pad", {ints({1, 2}, {1, 2}), vector({1, 0, 0, 1})})),
            (std::vector<std::int64_t>{0, 0, 0, 1, 2, 0}));
  EXPECT_EQ(values(run("NonZero", {ints({0, 3, 4, 0}, {2, 2})})),
            (std::vector<std::int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(values(run("GatherElements", {vector({5, 6, 7}), vector({-1, 0})})),
            (std::vector<std::int64_t>{7, 5}));
  EXPECT_EQ(values(run("ScatterND",
                       {ints({1, 2, 3, 4}, {2, 2}), ints({1}, {1, 1}), ints({8, 9}, {1, 2})})),
            (std::vector<std::int64_t>{1, 2, 8, 9}));
  EXPECT_TRUE(run("GatherElements", {vector({5}), vector({1})}).empty());
}

}  // namespace
}  // namespace sardonyx::onnx

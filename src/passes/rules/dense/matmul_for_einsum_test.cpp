#include <string>

#include "passes/rules/dense/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class MatmulForEinsum : public RulesTest {
 protected:
  // The operators that it becomes, and the type of the result; "" where it stays.
  std::string becomes(const std::string& equation, Value left, Value right) {
    const Value y = onnx.einsum({left, right}, {.equation = equation});
    const std::string before = type(y.info());
    outputs({y});
    if (!run(kMatmulForEinsum)) return "";
    EXPECT_EQ(type(model.graph->outputs[0]), before);
    return ops();
  }
  const std::vector<std::int64_t>& order(const onnx::Node* transpose) const {
    return *transpose->ints("perm");
  }

  Value q = input("q", {b, 2, s, 4}), k = input("k", {b, 2, 5, 4}), keys = input("keys", {b, 5, 4});
};

TEST_F(MatmulForEinsum, WhatIsAProductAlready) {
  EXPECT_EQ(becomes("bhij,bhjd->bhid", q, input("v", {b, 2, 4, 6})), "MatMul");
}

TEST_F(MatmulForEinsum, KeysAreTurned) {
  EXPECT_EQ(becomes("b h i d, b h j d -> b h i j", q, k), "Transpose MatMul");
  EXPECT_EQ(order(model.graph->first), (std::vector<std::int64_t>{0, 1, 3, 2}));
}

TEST_F(MatmulForEinsum, FactorsChangePlaces) {
  EXPECT_EQ(becomes("bhid,bhjd->bhji", q, k), "Transpose MatMul");
  EXPECT_EQ(model.graph->last->input(0), k.info());
}

TEST_F(MatmulForEinsum, LengthBeforeHeads) {
  const Value rows = input("rows", {b, s, 2, 4}), others = input("others", {b, 5, 2, 4});
  EXPECT_EQ(becomes("bqhd,bkhd->bhqk", rows, others), "Transpose Transpose MatMul");
}

TEST_F(MatmulForEinsum, TheResultIsTurned) {
  EXPECT_EQ(becomes("bhij,bhjd->bihd", q, input("v", {b, 2, 4, 6})), "MatMul Transpose");
  EXPECT_EQ(order(model.graph->last), (std::vector<std::int64_t>{0, 2, 1, 3}));
}

TEST_F(MatmulForEinsum, AFactorThatLacksAnAxisOfBatches) {
  EXPECT_EQ(becomes("bhid,bjd->bhij", q, keys), "Unsqueeze Transpose MatMul");
}

TEST_F(MatmulForEinsum, AMatrixForAllBatches) {
  EXPECT_EQ(becomes("bsd,dk->bsk", keys, input("w", {4, 6})), "MatMul");
}

TEST_F(MatmulForEinsum, AnEllipsis) {
  EXPECT_EQ(becomes("...d,kd->...k", keys, input("u", {6, 4})), "Transpose MatMul");
}

TEST_F(MatmulForEinsum, DenseLayersOverSeveralAxes) {
  EXPECT_EQ(becomes("abc,cde->abde", input("x", {b, s, 8}), input("w", {8, 2, 4})),
            "Reshape MatMul Reshape");
}

TEST_F(MatmulForEinsum, DenseLayersOfSeveralAxes) {
  EXPECT_EQ(becomes("abcd,cde->abe", input("x", {b, s, 2, 4}), input("w1", {2, 4, 6})),
            "Reshape Reshape MatMul");
}

TEST_F(MatmulForEinsum, DenseLayersOfUnknownSizesStay) {
  EXPECT_EQ(becomes("abcd,cde->abe", q, input("w", {s, 4, 6})), "");
  EXPECT_EQ(reason(), "the sizes of its weights are not known");
}

TEST_F(MatmulForEinsum, OtherSumsStay) {
  EXPECT_EQ(becomes("bhid,bhid->bhi", q, q), "");                  // no columns
  EXPECT_EQ(becomes("bhid,bhjd->bij", q, k), "");                  // two sums
  EXPECT_EQ(becomes("bid,j->bidj", keys, input("n", {3})), "");    // none
  EXPECT_EQ(becomes("bjd,de->be", keys, input("w", {4, 6})), "");  // one of a factor alone
  EXPECT_EQ(becomes("ii,ij->ij", input("m", {4, 4}), input("w", {4, 6})), "");
  EXPECT_EQ(reason(), "its equation is no product of two factors");
}

TEST_F(MatmulForEinsum, SizesThatMayDifferStay) {
  EXPECT_EQ(becomes("bij,bjd->bid", keys, input("v", {b, 1, 6})), "");
  EXPECT_EQ(reason(), "the sizes that are summed over may differ");
}

TEST_F(MatmulForEinsum, BytesStay) {
  const Value x = input("x", {3, 4}, DType::kInt8);
  EXPECT_EQ(becomes("ij,kj->ik", x, input("z", {5, 4}, DType::kInt8)), "");
}

}  // namespace
}  // namespace sardonyx::passes

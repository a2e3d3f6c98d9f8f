#include "program/ir/strides.h"

#include <gtest/gtest.h>

#include "program/ir/program.h"
#include "symbolic/expr.h"

namespace sardonyx::program {
namespace {

bool is_contiguous(std::vector<symbolic::Expr> shape, std::vector<symbolic::Expr> strides) {
  Value value;
  value.shape = std::move(shape);
  value.strides = std::move(strides);
  drop_contiguous_strides(value);
  return value.strides.empty();
}

TEST(Strides, OfContiguousTensorsAreDropped) {
  symbolic::Pool pool;
  const symbolic::Expr n = pool.symbol("n");
  EXPECT_TRUE(is_contiguous({2, n, 8}, {n * 8, 8, 1}));
  EXPECT_TRUE(is_contiguous({2, 1, 8}, {8, 3, 1}));
  EXPECT_TRUE(is_contiguous({2, 0, 8}, {1, 1, 1}));
  EXPECT_FALSE(is_contiguous({2, n, 8}, {8, 16, 1}));
}

TEST(Strides, OfSizesThatMayBe0AreProductsOfAtLeast1) {
  symbolic::Pool pool;
  const symbolic::Expr n = pool.symbol("n");
  const symbolic::Expr m = pool.symbol("m");
  const symbolic::Expr rows = symbolic::max(1, n);
  EXPECT_TRUE(is_contiguous({2, n, 8}, {rows * 8, 8, 1}));
  EXPECT_TRUE(is_contiguous({2, m, n}, {rows * symbolic::max(1, m), rows, 1}));
  EXPECT_FALSE(is_contiguous({2, m, n}, {rows, rows, 1}));
}

}  // namespace
}  // namespace sardonyx::program

#include "base/parse_double.h"

#include <gtest/gtest.h>

#include <limits>

namespace sardonyx::base {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(RealText, IsReadToItsEnd) {
  EXPECT_EQ(read_real("1.5e-3"), 1.5e-3);
  EXPECT_EQ(read_real("-2."), -2.0);
  EXPECT_EQ(read_real("4e2"), 400.0);
  EXPECT_EQ(read_real(""), std::nullopt);
  EXPECT_EQ(read_real("1.5x"), std::nullopt);
  EXPECT_EQ(read_real(" 1"), std::nullopt);
  EXPECT_EQ(read_real("x"), std::nullopt);
}

TEST(RealText, HasNoNumbersOutsideOfTheRange) {
  EXPECT_EQ(read_real("1e400"), kInfinite);
  EXPECT_EQ(read_real("-1e400"), -kInfinite);
  EXPECT_EQ(read_real("1e-400"), 0.0);
}

}  // namespace
}  // namespace sardonyx::base

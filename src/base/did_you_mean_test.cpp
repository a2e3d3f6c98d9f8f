#include "base/did_you_mean.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace sardonyx::base {
namespace {

constexpr std::array<std::string_view, 4> kKnown = {"fold-pad", "fold-weights", "drop-identity",
                                                    "fold-batch-norm"};

TEST(NearNames, TheNearestComesFirst) {
  EXPECT_EQ(did_you_mean("fold-pads", kKnown), "did you mean `fold-pad`?");
  EXPECT_EQ(did_you_mean("fold_weights", kKnown), "did you mean `fold-weights`?");
  EXPECT_EQ(did_you_mean("identity", kKnown), "did you mean `drop-identity`?");
}

TEST(NearNames, APartOfSeveral) {
  EXPECT_EQ(did_you_mean("fold", kKnown),
            "did you mean `fold-pad`, `fold-weights` or `fold-batch-norm`?");
}

TEST(NearNames, NothingIsNear) {
  EXPECT_EQ(did_you_mean("", kKnown), "");
  EXPECT_EQ(did_you_mean("quantize", kKnown), "");
  EXPECT_EQ(did_you_mean(std::string(100000, 'x'), kKnown), "");
}

}  // namespace
}  // namespace sardonyx::base

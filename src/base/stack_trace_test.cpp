#include "base/stack_trace.h"

#include <gtest/gtest.h>

namespace sardonyx::base {
namespace {

constexpr std::string_view kTrace =
    "  File \"/home/me/secret/model.py\", line 12, in forward\n    return self.fc(x)\n"
    "  File \"/home/me/.venv/lib/python3.11/site-packages/torch/nn/linear.py\", line 3, in "
    "forward\n"
    "    return F.linear(input)";

TEST(StackTrace, FilesOfPackagesAreCalledByWhereTheyStandInThem) {
  EXPECT_EQ(without_paths(kTrace, false),
            "  File \"/home/me/secret/model.py\", line 12, in forward\n    return self.fc(x)\n"
            "  File \"torch/nn/linear.py\", line 3, in forward\n    return F.linear(input)");
}

TEST(StackTrace, TheUsersOwnAreCalledByTheirNamesOnRequest) {
  EXPECT_EQ(without_paths(kTrace, true),
            "  File \"model.py\", line 12, in forward\n    return self.fc(x)\n"
            "  File \"torch/nn/linear.py\", line 3, in forward\n    return F.linear(input)");
  EXPECT_EQ(without_paths("  File \"model.py\", line 1, in f\n", true),
            "  File \"model.py\", line 1, in f\n");
  EXPECT_EQ(without_paths("no trace", true), "no trace");
  EXPECT_EQ(without_paths("", true), "");
}

}  // namespace
}  // namespace sardonyx::base

#include "base/at_once.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace sardonyx::base {
namespace {

TEST(AtOnce, EveryPartIsDoneOnce) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
    std::vector<int> done(count);
    at_once(count, [&](std::size_t part) { ++done[part]; });
    EXPECT_EQ(done, std::vector<int>(count, 1));
  }
}

TEST(AtOnce, WhatAPartThrowsComesWhenAllAreDone) {
  std::vector<int> done(4);
  EXPECT_THROW(at_once(4,
                       [&](std::size_t part) {
                         ++done[part];
                         if (part == 2) throw std::runtime_error("no");
                       }),
               std::runtime_error);
  EXPECT_EQ(done, std::vector<int>(4, 1));
}

TEST(AtOnce, ThereIsAProcessor) { EXPECT_GE(processors(), 1U); }

}  // namespace
}  // namespace sardonyx::base

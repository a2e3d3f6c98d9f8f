#include "base/parallel_for.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace sardonyx::base {
namespace {

TEST(AtOnce, EveryPartIsDoneOnce) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
    std::vector<int> done(count);
    run_on_threads(count, [&](std::size_t part) { ++done[part]; });
    EXPECT_EQ(done, std::vector<int>(count, 1));
  }
}

TEST(AtOnce, WhatAPartThrowsComesWhenAllAreDone) {
  std::vector<int> done(4);
  EXPECT_THROW(run_on_threads(4,
                              [&](std::size_t part) {
                                ++done[part];
                                if (part == 2) throw std::runtime_error("no");
                              }),
               std::runtime_error);
  EXPECT_EQ(done, std::vector<int>(4, 1));
}

TEST(AtOnce, ThereIsAProcessor) {
  EXPECT_GE(processors(), 1U);
  set_threads(1);
  EXPECT_EQ(processors(), 1U);
  set_threads(0);
}

TEST(InOrder, PiecesAreTakenInOrderByTheThreadThatMadeThem) {
  for (const std::size_t threads : {1U, 2U, 5U, 50U}) {
    std::vector<std::size_t> made(50), taken;
    in_order(
        20, threads, [&](std::size_t piece, std::size_t thread) { made[thread] = piece; },
        [&](std::size_t piece, std::size_t thread) {
          EXPECT_EQ(made[thread], piece);
          taken.push_back(piece);
        });
    std::vector<std::size_t> expected(20);
    std::iota(expected.begin(), expected.end(), 0U);
    EXPECT_EQ(taken, expected);
  }
  in_order(0, 4, [](std::size_t, std::size_t) { FAIL(); }, [](std::size_t, std::size_t) {});
}

TEST(InOrder, TheFirstFailureEndsAll) {
  for (const bool in_take : {false, true}) {
    std::vector<std::size_t> taken;
    const auto fail = [&](std::size_t piece) {
      if (piece >= 5) throw std::runtime_error(std::to_string(piece));
    };
    const auto make = [&](std::size_t piece, std::size_t /*thread*/) {
      if (!in_take) fail(piece);
    };
    const auto take = [&](std::size_t piece, std::size_t /*thread*/) {
      fail(piece);
      taken.push_back(piece);
    };
    try {
      in_order(100, 3, make, take);
      ADD_FAILURE();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "5");
    }
    EXPECT_EQ(taken.size(), 5U);
  }
}

}  // namespace
}  // namespace sardonyx::base

#include "viewer/layered.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <random>

namespace sardonyx::viewer {
namespace {

std::vector<Rank> free_items(std::size_t count) { return std::vector(count, Rank::kFree); }

// The layer of each item.
std::map<int, int> layers(const Layering& layering) {
  std::map<int, int> found;
  for (const Placement& place : layering.places)
    if (place.item >= 0) found[place.item] = place.layer;
  return found;
}

int bends(const Layering& layering) {
  int count = 0;
  for (const Placement& place : layering.places) count += place.item < 0 ? 1 : 0;
  return count;
}

// What every layering has: places layer by layer, all items once, near links to the next layer.
void check(const Layering& layering, std::size_t items) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < layering.places.size(); ++i) {
    seen += layering.places[i].item >= 0 ? 1 : 0;
    if (i > 0) {
      EXPECT_GE(layering.places[i].layer, layering.places[i - 1].layer);
    }
  }
  EXPECT_EQ(seen, items);
  for (const Link& link : layering.near)
    EXPECT_EQ(layering.places[static_cast<std::size_t>(link.from)].layer + 1,
              layering.places[static_cast<std::size_t>(link.to)].layer);
}

TEST(Layered, ALongEdgeHasABendInEachLayerItPasses) {
  const std::vector<Link> links{{0, 1, 0}, {1, 2, 1}, {2, 3, 2}, {0, 3, 0}};
  const Layering layering = layered(free_items(4), links);
  check(layering, 4);
  EXPECT_EQ(layers(layering), (std::map<int, int>{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(bends(layering), 2);
}

TEST(Layered, EdgesOfOneValueShareBends) {
  // 0 is read by 3 and 4, which are at the end of a chain.
  const std::vector<Link> links{{0, 1, 0}, {1, 2, 1}, {2, 3, 2}, {0, 3, 0}, {3, 4, 3}, {0, 4, 0}};
  EXPECT_EQ(bends(layered(free_items(5), links)), 3);
}

TEST(Layered, CrossingsAreAvoided) {
  // Two chains whose ends are numbered the other way round.
  const std::vector<Link> links{{0, 3, 0}, {1, 2, 1}, {2, 5, 2}, {3, 4, 3}};
  const Layering layering = layered(free_items(6), links);
  EXPECT_EQ(crossings(layering), 0);
}

TEST(Layered, WhatEntersStandsAboveAndWhatLeavesBelow) {
  const std::vector<Rank> items{Rank::kTop, Rank::kTop, Rank::kFree, Rank::kFree, Rank::kBottom};
  const std::vector<Link> links{{0, 2, 0}, {2, 3, 2}, {1, 3, 1}, {2, 4, 2}};
  const Layering layering = layered(items, links);
  check(layering, 5);
  EXPECT_EQ(layers(layering), (std::map<int, int>{{0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 3}}));
}

TEST(Layered, ASourceStandsNextToItsReader) {
  const std::vector<Link> links{{0, 1, 0}, {1, 2, 1}, {2, 4, 2}, {3, 4, 3}};
  EXPECT_EQ(layers(layered(free_items(5), links)).at(3), 2);
}

TEST(Layered, EdgesBackAreKeptApart) {
  const std::vector<Link> links{{0, 1, 0}, {1, 0, 1}, {2, 2, 2}};
  const Layering layering = layered(free_items(3), links);
  check(layering, 3);
  EXPECT_EQ(layering.near.size(), 1u);
  EXPECT_EQ(layering.far.size(), 2u);
}

TEST(Layered, NothingAtAll) { EXPECT_TRUE(layered({}, {}).places.empty()); }

TEST(Layered, HostileGraphsStaySmall) {
  // A chain in which every node reads many earlier ones would need a bend for each pair.
  std::mt19937 random(0);
  const int count = 4000;
  std::vector<Link> links;
  for (int i = 1; i < count; ++i) {
    links.push_back({i - 1, i, i - 1});
    const int source = static_cast<int>(random() % static_cast<unsigned>(i));
    links.push_back({source, i, source + count});
  }
  const Layering layering = layered(free_items(count), links);
  check(layering, count);
  EXPECT_LE(layering.places.size(), 10u * count);
  EXPECT_FALSE(layering.far.empty());
}

}  // namespace
}  // namespace sardonyx::viewer

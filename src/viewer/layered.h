// Layered drawing of a directed graph (Sugiyama): which layer each item is in, and in which order.
// Coordinates are the page's business, since they depend on which modules are expanded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sardonyx::viewer {

// `value` is what is handed over: edges of one value from one item share their bends.
struct Link {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t value = 0;
  friend bool operator==(const Link&, const Link&) = default;
};

enum class Rank : std::uint8_t {
  kFree,    // wherever its edges put it
  kTop,     // in the first layer, with nothing else
  kBottom,  // in the last layer, with nothing else
};

struct Placement {
  std::int32_t item = -1;  // -1: a bend of an edge
  std::int32_t layer = 0;
};

struct Layering {
  // Layer by layer, each from left to right.
  std::vector<Placement> places;
  // From and to are indices of `places`. All lead from one layer to the next, but for those of
  // `far`: edges back to an earlier layer, and those for whose bends there are too many.
  std::vector<Link> near;
  std::vector<Link> far;
};

// Items are in the order of execution: an edge to an earlier item leads back. Takes time and memory
// proportional to items and edges (times their logarithm), whatever the graph.
Layering layered(std::span<const Rank> items, std::span<const Link> links);

// How often edges cross, of the edges from one layer to the next.
std::int64_t crossings(const Layering& layering);

}  // namespace sardonyx::viewer

#include "viewer/layered.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

namespace sardonyx::viewer {
namespace {

using Index = std::int32_t;

std::size_t at(Index index) { return static_cast<std::size_t>(index); }
Index size_of(const auto& items) { return static_cast<Index>(items.size()); }

// Edges by one of their ends, as offsets into one list.
class Adjacency {
 public:
  Adjacency(Index items, std::span<const Link> links, bool by_target) : begin_(at(items) + 1) {
    for (const Link& link : links) ++begin_[at(by_target ? link.to : link.from) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    others_.resize(links.size());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (const Link& link : links)
      others_[next[at(by_target ? link.to : link.from)]++] = by_target ? link.from : link.to;
  }
  std::span<const Index> of(Index item) const {
    return std::span(others_).subspan(begin_[at(item)], begin_[at(item) + 1] - begin_[at(item)]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<Index> others_;
};

// Longest paths from the top. An item with more readers than sources then moves down to them, so
// that fewer edges are long.
std::vector<Index> layers_of(std::span<const Rank> items, std::span<const Link> forward) {
  const Index count = size_of(items);
  const Adjacency sources(count, forward, true), readers(count, forward, false);
  const bool has_top = std::ranges::find(items, Rank::kTop) != items.end();
  std::vector<Index> layers(items.size(), has_top ? 1 : 0);
  Index last = 0;
  for (Index item = 0; item < count; ++item) {
    if (items[at(item)] == Rank::kTop) layers[at(item)] = 0;
    for (const Index source : sources.of(item))
      layers[at(item)] = std::max(layers[at(item)], layers[at(source)] + 1);
    if (items[at(item)] != Rank::kBottom) last = std::max(last, layers[at(item)]);
  }
  for (Index item = count - 1; item >= 0; --item) {
    if (items[at(item)] == Rank::kBottom) layers[at(item)] = last + 1;
    if (items[at(item)] != Rank::kFree || readers.of(item).empty()) continue;
    if (!sources.of(item).empty() && readers.of(item).size() <= sources.of(item).size()) continue;
    Index nearest = last + 1;
    for (const Index reader : readers.of(item)) nearest = std::min(nearest, layers[at(reader)]);
    layers[at(item)] = std::max(layers[at(item)], nearest - 1);
  }
  return layers;
}

// The places before they are ordered: items first, then bends.
struct Places {
  std::vector<Placement> all;
  std::vector<Link> near, far;
};

// Bends in each layer between an item and the furthest reader of its value.
Places bent(std::vector<Link> forward, const std::vector<Index>& layers) {
  Places places;
  for (Index item = 0; item < size_of(layers); ++item)
    places.all.push_back({item, layers[at(item)]});
  std::ranges::sort(forward, {}, [&](const Link& link) {
    return std::tuple(link.from, link.value, layers[at(link.to)], link.to);
  });
  struct Bundle {
    std::size_t begin, end;
    Index length;
  };
  std::vector<Bundle> bundles;
  for (std::size_t begin = 0, end = 0; begin < forward.size(); begin = end) {
    const Link& first = forward[begin];
    while (end < forward.size() && forward[end].from == first.from &&
           forward[end].value == first.value)
      ++end;
    bundles.push_back({begin, end, layers[at(forward[end - 1].to)] - layers[at(first.from)]});
  }
  std::ranges::stable_sort(bundles, {}, &Bundle::length);
  // So that the bends of a hostile graph are no more than a few for each item.
  std::int64_t budget = 1000 + 8 * static_cast<std::int64_t>(layers.size());
  for (const Bundle& bundle : bundles) {
    budget -= bundle.length - 1;
    Index tip = forward[bundle.begin].from;
    for (std::size_t i = bundle.begin; i < bundle.end; ++i) {
      const Link& link = forward[i];
      if (budget < 0) {
        (layers[at(link.to)] == layers[at(link.from)] + 1 ? places.near : places.far)
            .push_back(link);
        continue;
      }
      while (places.all[at(tip)].layer + 1 < layers[at(link.to)]) {
        const Index bend = size_of(places.all);
        places.all.push_back({-1, places.all[at(tip)].layer + 1});
        places.near.push_back({tip, bend, link.value});
        tip = bend;
      }
      places.near.push_back({tip, link.to, link.value});
    }
  }
  return places;
}

// Pairs of edges between two layers that cross, counted in a tree of sums.
std::int64_t crossings_between(std::vector<std::pair<Index, Index>>& edges, Index width) {
  std::ranges::sort(edges);
  std::vector<std::int64_t> sums(at(width) + 1);
  std::int64_t found = 0, seen = 0;
  for (const auto& [_, to] : edges) {
    std::int64_t before = 0;
    for (Index i = to + 1; i > 0; i -= i & -i) before += sums[at(i)];
    found += seen - before;
    ++seen;
    for (Index i = to + 1; i <= width; i += i & -i) ++sums[at(i)];
  }
  return found;
}

class Ordering {
 public:
  explicit Ordering(const Places& places)
      : places_(places),
        above_(size_of(places.all), places.near, true),
        below_(size_of(places.all), places.near, false),
        position_(places.all.size()) {
    Index last = -1;
    for (const Placement& place : places.all) last = std::max(last, place.layer);
    layers_.resize(at(last + 1));
    visit_in_depth();
  }

  // Sweeps down and up; the best order that was met stays.
  void improve() {
    std::vector<std::vector<Index>> best = layers_;
    std::int64_t least = count();
    const int sweeps = places_.all.size() > 30'000 ? 4 : 10;
    for (int sweep = 0; sweep < sweeps && least > 0; ++sweep) {
      if (sweep % 2 == 0) {
        for (std::size_t i = 1; i < layers_.size(); ++i) settle(layers_[i], above_);
      } else {
        for (std::size_t i = layers_.size(); i-- > 1;) settle(layers_[i - 1], below_);
      }
      const std::int64_t now = count();
      if (now < least) {
        least = now;
        best = layers_;
      }
    }
    layers_ = std::move(best);
  }

  const std::vector<std::vector<Index>>& layers() const { return layers_; }

 private:
  // Neighbors stand together from the start: each place comes where a walk down meets it first.
  void visit_in_depth() {
    std::vector<char> seen(places_.all.size());
    std::vector<Index> stack;
    for (Index root = 0; root < size_of(places_.all); ++root) {
      if (seen[at(root)] != 0 || !above_.of(root).empty()) continue;
      stack.push_back(root);
      while (!stack.empty()) {
        const Index place = stack.back();
        stack.pop_back();
        if (std::exchange(seen[at(place)], 1) != 0) continue;
        std::vector<Index>& layer = layers_[at(places_.all[at(place)].layer)];
        position_[at(place)] = size_of(layer);
        layer.push_back(place);
        const std::span<const Index> next = below_.of(place);
        stack.insert(stack.end(), next.rbegin(), next.rend());
      }
    }
  }

  void settle(std::vector<Index>& layer, const Adjacency& fixed) {
    std::vector<std::pair<double, Index>> wishes;
    wishes.reserve(layer.size());
    for (const Index place : layer) {
      const std::span<const Index> around = fixed.of(place);
      double sum = 0;
      for (const Index other : around) sum += position_[at(other)];
      wishes.emplace_back(
          around.empty() ? position_[at(place)] : sum / static_cast<double>(around.size()), place);
    }
    std::ranges::stable_sort(wishes, {}, &std::pair<double, Index>::first);
    for (std::size_t i = 0; i < layer.size(); ++i) {
      layer[i] = wishes[i].second;
      position_[at(layer[i])] = static_cast<Index>(i);
    }
  }

  std::int64_t count() const {
    std::int64_t found = 0;
    std::vector<std::pair<Index, Index>> edges;
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
      edges.clear();
      for (const Index place : layers_[i])
        for (const Index other : below_.of(place))
          edges.emplace_back(position_[at(place)], position_[at(other)]);
      found += crossings_between(edges, size_of(layers_[i + 1]));
    }
    return found;
  }

  const Places& places_;
  Adjacency above_, below_;
  std::vector<Index> position_;
  std::vector<std::vector<Index>> layers_;
};

}  // namespace

Layering layered(std::span<const Rank> items, std::span<const Link> links) {
  std::vector<Link> forward, back;
  for (const Link& link : links) (link.from < link.to ? forward : back).push_back(link);
  const std::vector<Index> layers = layers_of(items, forward);
  // A reader at the bottom that comes before its source, or the like.
  for (std::size_t i = 0; i < forward.size();) {
    if (layers[at(forward[i].from)] < layers[at(forward[i].to)]) {
      ++i;
      continue;
    }
    back.push_back(forward[i]);
    forward[i] = forward.back();
    forward.pop_back();
  }
  Places places = bent(std::move(forward), layers);
  Ordering ordering(places);
  ordering.improve();

  Layering result;
  std::vector<Index> index(places.all.size());
  for (const std::vector<Index>& layer : ordering.layers()) {
    for (const Index place : layer) {
      index[at(place)] = size_of(result.places);
      result.places.push_back(places.all[at(place)]);
    }
  }
  const auto renumbered = [&](const Link& link) {
    return Link{index[at(link.from)], index[at(link.to)], link.value};
  };
  for (const Link& link : places.near) result.near.push_back(renumbered(link));
  places.far.insert(places.far.end(), back.begin(), back.end());
  for (const Link& link : places.far) result.far.push_back(renumbered(link));
  return result;
}

std::int64_t crossings(const Layering& layering) {
  std::vector<Index> begin;  // of each layer
  for (Index i = 0; i < size_of(layering.places); ++i)
    while (size_of(begin) <= layering.places[at(i)].layer) begin.push_back(i);
  begin.push_back(size_of(layering.places));
  std::vector<std::vector<std::pair<Index, Index>>> edges(begin.size());
  for (const Link& link : layering.near) {
    const Index layer = layering.places[at(link.from)].layer;
    edges[at(layer)].emplace_back(link.from - begin[at(layer)], link.to - begin[at(layer + 1)]);
  }
  std::int64_t found = 0;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i)
    if (!edges[i].empty())
      found += crossings_between(edges[i], begin[std::min(i + 2, begin.size() - 1)] - begin[i + 1]);
  return found;
}

}  // namespace sardonyx::viewer

#include "passes/outlining/isomorphic_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "passes/outlining/module_call.h"

namespace sardonyx::passes {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::ValueInfo;

// Rounds of taking the best group there is; each looks at all nodes.
constexpr int kMaxGroups = 16;
// How far round nodes is looked for seeds: what tells first layers from others may lie far off.
constexpr int kSeedRounds[] = {0, 2, 6};
constexpr int kMaxRounds = 6;

// What nodes must have in common to stand for each other, but for how they are wired.
std::string signature(Node* node) {
  std::string text = ModuleCall(node, node, {}).structure();
  for (const ValueInfo* input : node->inputs)
    if (input != nullptr && input->constant != nullptr)
      text += fmt::format("\n{}", fmt::join(input->constant->dims, ","));
  return text;
}

// Numbers for texts or rows of numbers that are the same.
template <class Key>
class Numbers {
 public:
  int of(const Key& key) {
    return numbers_.emplace(key, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<Key, int> numbers_;
};

class Finding {
 public:
  Finding(const Graph* graph, std::size_t fewest) : graph_(graph), fewest_(fewest) {
    Numbers<std::string> numbers;
    for (Node* node = graph->first; node != nullptr; node = node->next)
      if (onnx::bodies(node).empty()) kinds_.emplace(node, numbers.of(signature(node)));
    std::unordered_map<const Node*, int> kinds = kinds_;
    for (int rounds = 0; rounds <= kMaxRounds; ++rounds) {
      if (std::ranges::find(kSeedRounds, rounds) != std::end(kSeedRounds)) add_seeds(kinds);
      kinds = refined(kinds);
    }
  }

  std::vector<AlikeParts> run() {
    std::vector<AlikeParts> groups;
    for (int round = 0; round < kMaxGroups; ++round) {
      std::optional<AlikeParts> best;
      for (const std::vector<Node*>& seeds : seeds_) {
        std::vector<Node*> left;
        std::ranges::copy_if(seeds, std::back_inserter(left),
                             [this](const Node* node) { return !taken_.contains(node); });
        if (left.size() < 2) continue;
        AlikeParts grown = grow(left);
        if (saved(grown) <= (best ? saved(*best) : 0)) continue;
        groups.push_back(grown);
        if (!order_by_parts(graph_, groups).empty()) best = std::move(grown);
        groups.pop_back();
      }
      if (!best) break;
      for (const Part& part : best->members) taken_.insert(part.begin(), part.end());
      groups.push_back(*std::move(best));
    }
    return groups;
  }

 private:
  using Kinds = std::unordered_map<const Node*, int>;

  // Kinds that tell apart what stands between other kinds.
  Kinds refined(const Kinds& kinds) const {
    Numbers<std::vector<int>> numbers;
    Kinds made;
    const auto kind_of = [&](const Node* node) {
      const auto found = kinds.find(node);
      return found == kinds.end() ? -1 : found->second;
    };
    for (const Node* node = graph_->first; node != nullptr; node = node->next) {
      if (!kinds.contains(node)) continue;
      std::vector<int> key{kind_of(node)};
      for (const ValueInfo* input : node->inputs)
        key.push_back(input == nullptr ? -2 : kind_of(input->producer));
      for (const ValueInfo* output : node->outputs) {
        std::vector<int> readers;
        if (output != nullptr)
          for (const onnx::Use& use : output->uses) readers.push_back(kind_of(use.node));
        std::ranges::sort(readers);
        key.push_back(-3);
        key.insert(key.end(), readers.begin(), readers.end());
      }
      made.emplace(node, numbers.of(key));
    }
    return made;
  }

  // Nodes of one kind; each such set once.
  void add_seeds(const Kinds& kinds) {
    std::map<int, std::vector<Node*>> by_kind;
    for (Node* node = graph_->first; node != nullptr; node = node->next)
      if (const auto found = kinds.find(node); found != kinds.end())
        by_kind[found->second].push_back(node);
    for (auto& [kind, nodes] : by_kind)
      if (nodes.size() > 1 && std::ranges::find(seeds_, nodes) == seeds_.end())
        seeds_.push_back(std::move(nodes));
  }

  std::size_t saved(const AlikeParts& parts) const {
    const std::size_t size = parts.members.front().size();
    return size < fewest_ ? 0 : size * (parts.members.size() - 1);
  }

  // Parts of one node each, and all that is alike round them.
  AlikeParts grow(const std::vector<Node*>& seeds) {
    AlikeParts parts;
    places_.clear();
    for (Node* seed : seeds) {
      places_.emplace(seed, Place{parts.members.size(), 0});
      parts.members.push_back({seed});
    }
    // All that is in front first: what is behind a layer is in front of the next one.
    for (const bool forwards : {false, true})
      for (std::size_t at = 0; at < parts.members.front().size(); ++at) {
        grow_backwards(parts, at);
        if (forwards) grow_forwards(parts, at);
      }
    keep_those_wired_alike(parts);
    return parts;
  }

  void grow_backwards(AlikeParts& parts, std::size_t at) {
    const std::size_t count = parts.members.front()[at]->inputs.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<Node*> makers;
      for (const Part& part : parts.members) {
        const ValueInfo* input = part[at]->inputs[i];
        makers.push_back(input == nullptr ? nullptr : input->producer);
      }
      add(parts, makers);
    }
  }

  // Readers differ by what they are and where they read.
  void grow_forwards(AlikeParts& parts, std::size_t at) {
    const std::size_t count = parts.members.front()[at]->outputs.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::map<std::pair<int, std::uint32_t>, Node*>> readers;
      for (const Part& part : parts.members) readers.push_back(free_readers(part[at]->outputs[i]));
      for (const auto& [key, reader] : readers.front()) {
        std::vector<Node*> found;
        for (const auto& each : readers) {
          const auto same = each.find(key);
          found.push_back(same == each.end() ? nullptr : same->second);
        }
        add(parts, found);
      }
    }
  }

  // Null for a kind and an input that several have.
  std::map<std::pair<int, std::uint32_t>, Node*> free_readers(const ValueInfo* value) const {
    std::map<std::pair<int, std::uint32_t>, Node*> readers;
    if (value == nullptr) return readers;
    for (const onnx::Use& use : value->uses) {
      const auto kind = kinds_.find(use.node);
      if (kind == kinds_.end() || places_.contains(use.node)) continue;
      const auto [entry, is_new] = readers.emplace(std::pair(kind->second, use.index), use.node);
      if (!is_new) entry->second = nullptr;
    }
    return readers;
  }

  // Takes the nodes in, one for each part, where they are alike, no part's yet, and different ones.
  void add(AlikeParts& parts, const std::vector<Node*>& nodes) {
    std::unordered_set<const Node*> different;
    for (const Node* node : nodes) {
      const auto kind = kinds_.find(node);
      if (kind == kinds_.end() || kind->second != kinds_.at(nodes.front()) ||
          places_.contains(node) || taken_.contains(node) || !different.insert(node).second)
        return;
    }
    const std::size_t place = parts.members.front().size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      places_.emplace(nodes[i], Place{i, place});
      parts.members[i].push_back(nodes[i]);
    }
  }

  // Leaves those that have most others wired alike.
  void keep_those_wired_alike(AlikeParts& parts) const {
    std::map<std::vector<std::size_t>, std::vector<Part>> by_wiring;
    for (std::size_t member = 0; member < parts.members.size(); ++member)
      by_wiring[wiring(parts.members[member], member)].push_back(parts.members[member]);
    const auto most = std::ranges::max_element(by_wiring, {},
                                               [](const auto& each) { return each.second.size(); });
    parts.members = std::move(most->second);
  }

  // Where each input comes from: a place of the part, or a value from outside by its number; and
  // which outputs are read outside.
  std::vector<std::size_t> wiring(const Part& part, std::size_t member) const {
    std::vector<std::size_t> made;
    std::map<const ValueInfo*, std::size_t> outside;
    for (const Node* node : part) {
      for (const ValueInfo* input : node->inputs) {
        const auto place = input == nullptr ? places_.end() : places_.find(input->producer);
        if (place != places_.end() && place->second.member == member) {
          made.insert(made.end(), {0, place->second.at, input->index});
        } else {
          made.insert(made.end(), {1, outside.emplace(input, outside.size()).first->second});
        }
      }
      for (const ValueInfo* output : node->outputs) made.push_back(is_read_outside(output, member));
    }
    return made;
  }

  bool is_read_outside(const ValueInfo* value, std::size_t member) const {
    if (value == nullptr) return false;
    return !value->returns.empty() || std::ranges::any_of(value->uses, [&](const onnx::Use& use) {
      const auto place = places_.find(use.node);
      return place == places_.end() || place->second.member != member;
    });
  }

  struct Place {
    std::size_t member, at;
  };

  const Graph* graph_;
  std::size_t fewest_;
  std::unordered_map<const Node*, int> kinds_;
  std::vector<std::vector<Node*>> seeds_;
  std::unordered_set<const Node*> taken_;
  std::unordered_map<const Node*, Place> places_;
};

// Everything that a node reads, in its bodies too.
void for_each_maker(const Graph* graph, const Node* node, const auto& visit) {
  const auto look = [&](const ValueInfo* value) {
    if (value == nullptr || value->producer == nullptr) return;
    if (const Node* maker = onnx::ancestor_in(graph, value->producer)) visit(maker);
  };
  for (const ValueInfo* input : node->inputs) look(input);
  for (const Graph* body : onnx::bodies(node)) {
    for (const Node* inner = body->first; inner != nullptr; inner = inner->next)
      for_each_maker(graph, inner, visit);
    for (const ValueInfo* output : body->outputs) look(output);
  }
}

// The part's nodes in the order in which the group's first part has them.
Part in_order(const AlikeParts& group, const Part& part) {
  const Part& first = group.members.front();
  std::vector<std::size_t> places(first.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, onnx::precedes, [&](std::size_t place) { return first[place]; });
  Part ordered;
  for (const std::size_t place : places) ordered.push_back(part[place]);
  return ordered;
}

}  // namespace

std::vector<AlikeParts> find_alike_parts(const Graph* graph, std::size_t fewest) {
  return Finding(graph, fewest).run();
}

std::vector<Node*> order_by_parts(const Graph* graph, const std::vector<AlikeParts>& groups) {
  // A unit is a part, or a node of none; they keep the order of their first nodes where they can.
  std::unordered_map<const Node*, std::size_t> unit_of;
  std::vector<Part> units;
  std::unordered_map<const Node*, Part> part_of;  // by its first node
  std::unordered_set<const Node*> inside;
  for (const AlikeParts& group : groups)
    for (const Part& part : group.members) {
      Part ordered = in_order(group, part);
      inside.insert(ordered.begin(), ordered.end());
      const Node* first = *std::ranges::min_element(ordered, onnx::precedes);
      part_of.emplace(first, std::move(ordered));
    }
  for (Node* node = graph->first; node != nullptr; node = node->next) {
    const auto part = part_of.find(node);
    if (part != part_of.end()) {
      units.push_back(std::move(part->second));
    } else if (!inside.contains(node)) {
      units.push_back({node});
    } else {
      continue;
    }
    for (const Node* each : units.back()) unit_of.emplace(each, units.size() - 1);
  }
  std::vector<std::vector<std::size_t>> readers(units.size());
  std::vector<std::size_t> missing(units.size(), 0);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    std::unordered_set<std::size_t> needed;
    for (const Node* node : units[unit])
      for_each_maker(graph, node, [&](const Node* maker) {
        const std::size_t other = unit_of.at(maker);
        if (other != unit && needed.insert(other).second) readers[other].push_back(unit);
      });
    missing[unit] = needed.size();
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t unit = 0; unit < units.size(); ++unit)
    if (missing[unit] == 0) ready.push(unit);
  std::vector<Node*> order;
  std::size_t done = 0;
  for (; !ready.empty(); ++done) {
    const std::size_t unit = ready.top();
    ready.pop();
    order.insert(order.end(), units[unit].begin(), units[unit].end());
    for (const std::size_t reader : readers[unit])
      if (--missing[reader] == 0) ready.push(reader);
  }
  if (done != units.size()) order.clear();
  return order;
}

}  // namespace sardonyx::passes

#include "cli/explain.h"

#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sardonyx/report.h"

namespace sardonyx::cli {
namespace {

constexpr std::size_t kNodesNamed = 4;

}  // namespace

void print_explanation(const Simplification& simplification) {
  for (const Simplification::Applied& each : simplification.applied) {
    std::printf("%s: %lld %s\n", each.name.c_str(), static_cast<long long>(each.count),
                each.count == 1 ? "time" : "times");
  }
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> nodes;
  for (const Simplification::Declined& each : simplification.declined)
    nodes[{each.rule, each.reason}].push_back(each.node);
  for (const auto& [what, names] : nodes) {
    std::printf("%s declined: %s\n   ", what.first.c_str(), what.second.c_str());
    for (std::size_t i = 0; i < names.size() && i < kNodesNamed; ++i)
      std::printf(" %s", names[i].c_str());
    if (names.size() > kNodesNamed) std::printf(" and %zu more", names.size() - kNodesNamed);
    std::printf("\n");
  }
}

std::string explanation_json(const Simplification& simplification) {
  std::string applied;
  for (const Simplification::Applied& each : simplification.applied)
    applied += (applied.empty() ? "" : ", ") + ("{\"name\": " + json_string(each.name)) +
               ", \"count\": " + std::to_string(each.count) + "}";
  std::string declined;
  for (const Simplification::Declined& each : simplification.declined)
    declined += (declined.empty() ? "" : ", ") + ("{\"rule\": " + json_string(each.rule)) +
                ", \"node\": " + json_string(each.node) +
                ", \"reason\": " + json_string(each.reason) + "}";
  return "\"nodes_before\": " + std::to_string(simplification.nodes_before) +
         ", \"nodes\": " + std::to_string(simplification.nodes_after) + ", \"applied\": [" +
         applied + "], \"declined\": [" + declined + "]";
}

}  // namespace sardonyx::cli

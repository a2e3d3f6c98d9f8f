#include "cli/explain.h"

#include <cmath>
#include <cstdint>
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

void print_explanation(const OptimizationReport& simplification) {
  for (const OptimizationReport::Applied& each : simplification.applied) {
    std::printf("%s: %lld %s\n", each.name.c_str(), static_cast<long long>(each.count),
                each.count == 1 ? "time" : "times");
  }
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> nodes;
  for (const OptimizationReport::Declined& each : simplification.declined)
    nodes[{each.rule, each.reason}].push_back(each.node);
  for (const auto& [what, names] : nodes) {
    std::printf("%s declined: %s\n   ", what.first.c_str(), what.second.c_str());
    for (std::size_t i = 0; i < names.size() && i < kNodesNamed; ++i)
      std::printf(" %s", names[i].c_str());
    if (names.size() > kNodesNamed) std::printf(" and %zu more", names.size() - kNodesNamed);
    std::printf("\n");
  }
}

namespace {

double megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// JSON has no NaN: the error of weights without data, or with NaN among them.
std::string json_number(double number) {
  return std::isfinite(number) ? std::to_string(number) : "null";
}

// With the first reason, which is that of all in most models.
void print_that_none_changed(const OptimizationReport& simplification,
                             const std::string& precision) {
  std::string why;
  for (const OptimizationReport::Declined& each : simplification.declined)
    if (why.empty() && each.rule == "precision") why = ": " + each.node + ": " + each.reason;
  std::fprintf(stderr, "note: no weight was converted to %s%s\n", precision.c_str(), why.c_str());
}

}  // namespace

std::string weights_json(const OptimizationReport& simplification) {
  std::string weights;
  for (const WeightPrecision& each : simplification.weights) {
    const WeightError error = each.error();
    weights += (weights.empty() ? "" : ", ") + ("{\"name\": " + json_string(each.weight)) +
               ", \"type\": " + json_string(each.type) +
               ", \"bytes_before\": " + std::to_string(each.bytes_before) +
               ", \"bytes\": " + std::to_string(each.bytes_after) +
               ", \"relative_error\": " + json_number(error.relative) +
               ", \"largest_error\": " + json_number(error.largest) + "}";
  }
  return "[" + weights + "]";
}

void print_weights(const OptimizationReport& simplification, const std::string& precision,
                   bool each_of_them) {
  if (simplification.weights.empty()) {
    if (!precision.empty()) print_that_none_changed(simplification, precision);
    return;
  }
  std::int64_t before = 0, after = 0;
  const WeightPrecision* worst = nullptr;
  double most = -1;
  for (const WeightPrecision& each : simplification.weights) {
    const WeightError error = each.error();
    before += each.bytes_before;
    after += each.bytes_after;
    if (!(error.relative <= most)) {
      worst = &each;
      most = error.relative;
    }
    if (each_of_them)
      std::printf("  %s: %s, %.3f MB for %.3f, relative error %.2g, largest difference %.2g\n",
                  each.weight.c_str(), each.type.c_str(), megabytes(each.bytes_after),
                  megabytes(each.bytes_before), error.relative, error.largest);
  }
  std::printf("%zu weights: %.1f MB for %.1f; the largest relative error is %.2g, of %s\n",
              simplification.weights.size(), megabytes(after), megabytes(before), most,
              worst->weight.c_str());
}

std::string explanation_json(const OptimizationReport& simplification) {
  std::string applied;
  for (const OptimizationReport::Applied& each : simplification.applied)
    applied += (applied.empty() ? "" : ", ") + ("{\"name\": " + json_string(each.name)) +
               ", \"count\": " + std::to_string(each.count) + "}";
  std::string declined;
  for (const OptimizationReport::Declined& each : simplification.declined)
    declined += (declined.empty() ? "" : ", ") + ("{\"rule\": " + json_string(each.rule)) +
                ", \"node\": " + json_string(each.node) +
                ", \"reason\": " + json_string(each.reason) + "}";
  return "\"nodes_before\": " + std::to_string(simplification.nodes_before) +
         ", \"nodes\": " + std::to_string(simplification.nodes_after) + ", \"applied\": [" +
         applied + "], \"declined\": [" + declined +
         "], \"weights\": " + weights_json(simplification);
}

void print_notes(const std::vector<Diagnostic>& notes) {
  for (const Diagnostic& each : notes) std::fprintf(stderr, "%s\n", each.str().c_str());
}

std::string notes_json(const std::vector<Diagnostic>& notes) {
  return notes.empty() ? std::string() : ", \"notes\": " + to_json(notes);
}

}  // namespace sardonyx::cli

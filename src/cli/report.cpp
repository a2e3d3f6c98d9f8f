#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "onnx/graph/ir.h"

namespace sardonyx::cli {
namespace {

using Counts = std::map<std::string, std::int64_t>;

void count_operators(const onnx::Graph* graph, Counts& counts) {
  for (const onnx::Node* node = graph->first; node; node = node->next) {
    ++counts[node->domain.empty() ? node->op_type : node->domain + "::" + node->op_type];
    for (const onnx::Graph* body : onnx::bodies(node)) count_operators(body, counts);
  }
}

std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string table(std::string_view title, const std::vector<Diagnostic>& diagnostics) {
  if (diagnostics.empty()) return {};
  std::string text = fmt::format(
      "## {}\n\n| code | operator | module | at | message |\n|---|---|---|---|---|\n", title);
  for (const Diagnostic& found : diagnostics) {
    const UserLocation& at = found.location;
    text += fmt::format(
        "| {} | {} | {} | {} | {} |\n", found.code, cell(found.op), cell(found.module_path),
        at.file.empty() ? "" : cell(fmt::format("{}:{}", at.file, at.line)), cell(found.message));
  }
  return text + "\n";
}

// Fenced longer than any fence in the text.
std::string block(std::string_view title, const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fmt::format("## {}\n\n{}\n{}\n{}\n\n", title, fence, text, fence);
}

std::string steps(const RunRecord& run, bool failed) {
  std::string text = "| step | result | time |\n|---|---|---|\n";
  for (const auto& [name, seconds] : run.steps)
    text += fmt::format("| {} | ✅ | {:.1f} ms |\n", name, seconds * 1e3);
  if (failed) text += "| what followed | ❌ | |\n";
  return text + "\n";
}

std::string operators(const Model& model) {
  Counts counts;
  count_operators(model.internal().graph, counts);
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text =
      fmt::format("The model has {} nodes, at opset {}.\n\n| operator | nodes |\n|---|---|\n",
                  model.node_count(), model.internal().opsets.at(""));
  for (const auto& [name, count] : sorted) text += fmt::format("| {} | {} |\n", name, count);
  return text + "\n";
}

}  // namespace

std::string markdown_report(const RunRecord& run, const std::vector<Diagnostic>& errors) {
  std::string text =
      fmt::format("# Conversion of {}: {}\n\n", run.input, errors.empty() ? "succeeded" : "failed");
  text += steps(run, !errors.empty());
  text += table("What is wrong", errors);
  text += table("Notes", run.notes);
  std::string in_full;
  for (const Diagnostic& error : errors) in_full += (in_full.empty() ? "" : "\n") + error.str();
  if (!in_full.empty()) text += block("Errors in full", in_full);
  if (run.model) text += operators(*run.model) + block("Model", run.model->str());
  return text + fmt::format("Sardonyx {}\n", version());
}

}  // namespace sardonyx::cli

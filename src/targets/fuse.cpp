#include "targets/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rewriting/rule.h"

namespace sardonyx::targets {
namespace {

// Inputs that the runtime feeds only where the model has them.
void drop_unread(onnx::Model& model, const Target& target) {
  std::erase_if(model.graph->inputs, [&](const onnx::ValueInfo* input) {
    return !onnx::has_uses(input) &&
           std::ranges::find(target.fed_if_read, input->name) != target.fed_if_read.end();
  });
}

// The first root of the fusion in the graph, or in a body, that is not of its kernels' types; null
// where there is none.
const onnx::Node* of_other_types(const Fusion& fusion, const onnx::Graph& graph) {
  for (const onnx::Node* node = graph.first; node != nullptr; node = node->next) {
    for (const onnx::Graph* body : onnx::bodies(node))
      if (const onnx::Node* found = of_other_types(fusion, *body)) return found;
    if (std::ranges::find(fusion.rule->roots, node->op) == fusion.rule->roots.end()) continue;
    if (node->input(0) == nullptr) continue;
    if ((fusion.types & onnx::dtype_bit(node->input(0)->dtype)) == 0) return node;
  }
  return nullptr;
}

// Whether its kernels take the types of the model; where they do not, the report says so.
bool suits(const Fusion& fusion, const onnx::Model& model, rewriting::Report& report) {
  if (fusion.types == 0) return true;
  const onnx::Node* other = of_other_types(fusion, *model.graph);
  if (other == nullptr) return true;
  report.declined.push_back({std::string(fusion.rule->name), other->name,
                             fmt::format("there is no kernel of {} for {}",
                                         fusion.after.substr(0, fusion.after.find('(')),
                                         base::dtype_name(other->input(0)->dtype))});
  return false;
}

}  // namespace

void fuse(onnx::Model& model, const Target& target, const rewriting::Options& options,
          rewriting::Report& report) {
  std::vector<const rewriting::Rule*> rules;
  for (const Fusion& fusion : target.fusions) {
    const bool is_enabled =
        std::ranges::find(options.disabled, fusion.rule->name) == options.disabled.end();
    if (is_enabled && suits(fusion, model, report)) rules.push_back(fusion.rule);
    if (fusion.rule->name == options.stop_after) break;
  }
  if (rules.empty()) return;
  rewriting::RuleContext context(model, options, report);
  const std::vector<std::int64_t> counts = rewriting::apply_rules(rules, context);
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (counts[i] > 0) report.applied.push_back({std::string(rules[i]->name), counts[i]});
  drop_unread(model, target);
}

std::vector<std::string_view> fusion_names() {
  std::vector<std::string_view> names;
  for (const Target& target : targets())
    for (const Fusion& fusion : target.fusions)
      if (std::ranges::find(names, fusion.rule->name) == names.end())
        names.push_back(fusion.rule->name);
  return names;
}

bool is_fusion(std::string_view name) {
  const std::vector<std::string_view> names = fusion_names();
  return std::ranges::find(names, name) != names.end();
}

}  // namespace sardonyx::targets

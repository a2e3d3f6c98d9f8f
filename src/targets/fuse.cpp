#include "targets/fuse.h"

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

}  // namespace

void fuse(onnx::Model& model, const Target& target, const rewriting::Options& options,
          rewriting::Report& report) {
  std::vector<const rewriting::Rule*> rules;
  for (const Fusion& fusion : target.fusions) {
    if (std::ranges::find(options.disabled, fusion.rule->name) == options.disabled.end())
      rules.push_back(fusion.rule);
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

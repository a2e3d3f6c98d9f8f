#include "targets/fuse.h"

#include <string>
#include <vector>

#include "rewriting/rule.h"

namespace sardonyx::targets {

void fuse(onnx::Model& model, const Target& target, const rewriting::Options& options,
          rewriting::Report& report) {
  std::vector<const rewriting::Rule*> rules;
  for (const Fusion& fusion : target.fusions) rules.push_back(fusion.rule);
  if (rules.empty()) return;
  rewriting::RuleContext context(model, options, report);
  const std::vector<std::int64_t> counts = rewriting::apply_rules(rules, context);
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (counts[i] > 0) report.applied.push_back({std::string(rules[i]->name), counts[i]});
}

}  // namespace sardonyx::targets

#include "pipeline/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onnx/infer/conformance.h"
#include "passes/passes.h"
#include "pipeline/precision.h"
#include "targets/fuse.h"

namespace sardonyx {

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const targets::Target& target : targets::targets()) names.emplace_back(target.name);
  return names;
}

std::vector<std::string> rule_names() {
  std::vector<std::string_view> names = passes::pipeline();
  for (const std::string_view fusion : targets::fusion_names()) names.push_back(fusion);
  return {names.begin(), names.end()};
}

namespace pipeline {

void add_report(OptimizationReport& result, const rewriting::Report& report) {
  for (const rewriting::Applied& each : report.applied) {
    const auto before =
        std::ranges::find(result.applied, each.name, &OptimizationReport::Applied::name);
    if (before == result.applied.end()) {
      result.applied.push_back({each.name, each.count});
    } else {
      before->count += each.count;
    }
  }
  for (const rewriting::Declined& each : report.declined)
    result.declined.push_back({each.rule, each.node, each.reason});
}

OptimizationReport optimization_report(const rewriting::Report& report) {
  OptimizationReport result;
  add_report(result, report);
  return result;
}

const targets::Target& target_of(const std::string& name) {
  if (const targets::Target* target = targets::find_target(name)) return *target;
  base::fail("SX1010", fmt::format("there is no target runtime `{}`", name),
             fmt::format("choose one of {}", fmt::join(target_names(), ", ")));
}

void check_opset(std::int64_t opset) {
  if (opset >= kOldestOpset && opset <= kNewestOpset) return;
  base::fail("SX1002",
             fmt::format("opset {} is not one of {} to {}", opset, kOldestOpset, kNewestOpset));
}

rewriting::Report rewritten(onnx::Model& model, const targets::Target& target,
                            const rewriting::Options& options, bool fuses) {
  rewriting::Options passing = options;
  std::erase_if(passing.disabled, targets::is_fusion);
  const bool stops_behind = targets::is_fusion(options.stop_after);
  if (stops_behind) passing.stop_after = {};
  rewriting::Report report = passes::optimize(model, passing);
  const bool is_reached =
      options.stop_after.empty() || stops_behind || passes::is_of_tidying(options.stop_after);
  if (fuses && is_reached) targets::fuse(model, target, options, report);
  return report;
}

bool fuses_in_half(const targets::Target& target, const PrecisionOptions& precision) {
  return (target.is_accelerated() || target.computes_in_half) &&
         half_of(precision) != base::DType::kUndefined;
}

NotLowered::NotLowered(const Unsupported& error, const OptimizationReport& done)
    : Unsupported(error) {
  // What precision changed is no rule.
  const std::vector<std::string> rules = rule_names();
  for (const OptimizationReport::Applied& each : done.applied)
    if (std::ranges::find(rules, each.name) != rules.end()) applied_.push_back(each.name);
}

void lower_or_name_rules(onnx::Model& model, const targets::Target& target,
                         const targets::LowerOptions& options, const OptimizationReport& done) {
  try {
    targets::lower(model, target, options);
  } catch (const targets::Unsupported& error) {
    throw NotLowered(error, done);
  }
}

std::vector<std::string> rules_to_leave_out(
    const NotLowered& problem,
    const std::function<void(const std::vector<std::string>&)>& attempt) {
  const std::vector<std::string>& applied = problem.applied();
  const auto works = [&](const std::vector<std::string>& rules) {
    try {
      attempt(rules);
      return true;
    } catch (const targets::Unsupported&) {
      return false;
    }
  };
  const auto from = [&](std::size_t first) {
    return std::vector<std::string>(applied.begin() + static_cast<std::ptrdiff_t>(first),
                                    applied.end());
  };
  if (applied.empty() || !works(applied)) throw problem;
  // It works without those from `first` on, and not without those from `last` on alone.
  std::size_t first = 0, last = applied.size();
  while (last - first > 1) {
    const std::size_t middle = first + (last - first) / 2;
    (works(from(middle)) ? first : last) = middle;
  }
  const std::vector<std::string> alone = {applied[first]};
  return works(alone) ? alone : from(first);
}

void add_left_out(OptimizationReport& done, const std::vector<std::string>& rules,
                  const Error& problem) {
  const Diagnostic& first = problem.diagnostics().front();
  for (const std::string& rule : rules)
    done.declined.push_back({rule, first.node, "the target cannot have it: " + first.message});
}

void tidy(onnx::Model& model, const rewriting::Options& options, OptimizationReport& done) {
  if (options.stop_after.empty() || passes::is_of_tidying(options.stop_after))
    add_report(done, passes::tidy(model, options));
}

void report_placement(const onnx::Model& model, const targets::Target& target, std::int64_t opset,
                      OptimizationReport& done) {
  for (targets::OnCpu& each : targets::nodes_on_cpu(model, target, opset))
    done.declined.push_back({"placement", std::move(each.node), std::move(each.reason)});
}

std::optional<Diagnostic> warning_of_placement(const onnx::Model& model,
                                               const targets::Target& target, std::int64_t opset) {
  if (!targets::is_for_cpu_alone(model, target, opset)) return std::nullopt;
  Diagnostic warning;
  warning.severity = Severity::kWarning;
  warning.code = "SX1507";
  warning.message = fmt::format(
      "{} has a kernel of no node of this model at opset {}: all of it "
      "runs on the CPU",
      target.title, opset);
  warning.help =
      "choose a target without an accelerator, or compute in types that the provider has: "
      "--explain names each node and why";
  return warning;
}

void check_schemas(onnx::Model& model) {
  std::vector<Diagnostic> found;
  for (std::string& each : onnx::violations(model, onnx::Depth::kTypes)) {
    Diagnostic& diagnostic = found.emplace_back();
    diagnostic.code = "SX1501";
    diagnostic.message = std::move(each);
    diagnostic.help = "this is a defect of Sardonyx; please report it";
  }
  if (!found.empty()) throw Error(std::move(found));
}

bool conforms(onnx::Model& model) { return onnx::violations(model, onnx::Depth::kSchemas).empty(); }

}  // namespace pipeline
}  // namespace sardonyx

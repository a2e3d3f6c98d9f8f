// What conversion and optimization have in common: targets, rules, lowering, and the check of what
// comes out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "rewriting/report.h"
#include "sardonyx/sardonyx.h"
#include "targets/lower.h"
#include "targets/placement.h"
#include "targets/target.h"
#include "targets/unsupported.h"

namespace sardonyx::pipeline {

// Adds to a report what rules did; a rule that ran twice has one row.
void add_report(OptimizationReport& result, const rewriting::Report& report);
OptimizationReport optimization_report(const rewriting::Report& report);

// Throws SX1010 for a runtime that is no target.
const targets::Target& target_of(const std::string& name);
// Throws SX1002 for an opset that is not supported.
void check_opset(std::int64_t opset);

// By the passes, and after them by the fusions of the target, unless these come later: a name is of
// either.
rewriting::Report rewritten(onnx::Model& model, const targets::Target& target,
                            const rewriting::Options& options, bool fuses = true);

// Whether the target's fusions come after the model has become half: an accelerator has kernels of
// half precision for them.
bool fuses_in_half(const targets::Target& target, const PrecisionOptions& precision);

// What the target does not support of a model, and the rules that had changed it.
class NotLowered : public targets::Unsupported {
 public:
  NotLowered(const Unsupported& error, const OptimizationReport& done);
  const std::vector<std::string>& applied() const { return applied_; }

 private:
  std::vector<std::string> applied_;
};

// Throws NotLowered.
void lower_or_name_rules(onnx::Model& model, const targets::Target& target,
                         const targets::LowerOptions& options, const OptimizationReport& done);

// The last rule without which `attempt` succeeds, or with it those that were applied after it.
// Throws `problem` where it fails without all of them.
std::vector<std::string> rules_to_leave_out(
    const NotLowered& problem, const std::function<void(const std::vector<std::string>&)>& attempt);
void add_left_out(OptimizationReport& done, const std::vector<std::string>& rules,
                  const Error& problem);

// After lowering, unless an earlier rule was to be the last.
void tidy(onnx::Model& model, const rewriting::Options& options, OptimizationReport& done);

// What the lowered model leaves to the CPU of a target with an accelerator.
void report_placement(const onnx::Model& model, const targets::Target& target, std::int64_t opset,
                      OptimizationReport& done);
// A warning (SX1507) where the accelerator runs nothing of it.
std::optional<Diagnostic> warning_of_placement(const onnx::Model& model,
                                               const targets::Target& target, std::int64_t opset);

// Before anything is written. Throws SX1501.
void check_schemas(onnx::Model& model);
bool conforms(onnx::Model& model);

}  // namespace sardonyx::pipeline

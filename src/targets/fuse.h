// From the canonical IR to contrib operators, before the rest is lowered.
#pragma once

#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"
#include "rewriting/report.h"
#include "targets/target.h"

namespace sardonyx::targets {

// Rewrites by the fusions of the target, as far as options.stop_after and without those that are
// disabled; what was applied and declined is added to the report. Functions stay as their authors
// wrote them.
void fuse(onnx::Model& model, const Target& target, const rewriting::Options& options,
          rewriting::Report& report);

// Of all targets, each once.
std::vector<std::string_view> fusion_names();
bool is_fusion(std::string_view name);

}  // namespace sardonyx::targets

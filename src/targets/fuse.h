// From the core dialect to operators of the runtime's own, before the rest is lowered.
#pragma once

#include "onnx/graph/ir.h"
#include "rewriting/report.h"
#include "targets/target.h"

namespace sardonyx::targets {

// Rewrites by the fusions of the target; what was applied and declined is added to the report.
// Functions stay as their authors wrote them.
void fuse(onnx::Model& model, const Target& target, const rewriting::Options& options,
          rewriting::Report& report);

}  // namespace sardonyx::targets

// Where the nodes of a model run on a target that has an accelerator beside the CPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "targets/target.h"

namespace sardonyx::targets {

struct OnCpu {
  std::string node;
  std::string reason;
};

// The nodes of a lowered model, bodies included, that the accelerator has no kernel for and the CPU
// has one. None for a target without an accelerator. Sizes of tensors, which the runtime computes
// on the CPU of its own accord, are not among them where they have a kernel.
std::vector<OnCpu> nodes_on_cpu(const onnx::Model& model, const Target& target, std::int64_t opset);

// Whether the accelerator has a kernel of no node that computes anything, so that the model is one
// for the CPU. False for a target without an accelerator.
bool is_for_cpu_alone(const onnx::Model& model, const Target& target, std::int64_t opset);

// The opset, not above that of the target, at which the fewest operators of the canonical IR are
// decomposed or lack a kernel that the accelerator has in another opset; the newest of these.
std::int64_t best_opset(const onnx::Model& model, const Target& target);

}  // namespace sardonyx::targets

// A row of a target's fusions: nodes of the canonical IR that are fused into one contrib operator.
#pragma once

#include <span>
#include <string_view>

#include "onnx/operators/operator.h"
#include "rewriting/rule.h"

namespace sardonyx::targets {

struct Fusion {
  const rewriting::Rule* rule;  // its name is the row's
  std::string_view before;      // "Gelu(Add(x, bias))", for the documentation
  std::string_view after;       // "com.microsoft.BiasGelu(x, bias)"
  // How long it takes beside what it replaces, where and when; `make bench-kernels` repeats it.
  std::string_view measured;
  std::string_view since;  // the release it was measured in
  // Element types of the fused operator's kernels; 0: the rule knows. Where the model computes in
  // others, the rule does not run.
  onnx::DTypeSet types = 0;
};

using Fusions = std::span<const Fusion>;

}  // namespace sardonyx::targets

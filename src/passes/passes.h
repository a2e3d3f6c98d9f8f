// Graph simplification: named rules in one pipeline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

struct Pass {
  std::string_view name;  // says the rule: "drop-identity", "fuse-rotary-embedding"
  // Whether it changed anything. Keeps names and metadata; in debug builds the verifier runs after
  // it.
  bool (*run)(onnx::Model& model);
  // Whether it replaces weights by what is computed of them.
  bool changes_weights = false;
};

// Runs the pipeline, up to and including the pass called `stop_after` when one is named (SX1801
// when there is none of that name), without those that change weights where `keep_weights`. Returns
// the names of the passes that changed the model, in order.
std::vector<std::string> optimize(onnx::Model& model, std::string_view stop_after = {},
                                  bool keep_weights = false);

// After lowering: computes once what was put round weights, and drops what nobody reads any more.
void tidy(onnx::Model& model, bool keep_weights);

// The passes in the order they run.
std::vector<Pass> pipeline();

}  // namespace sardonyx::passes

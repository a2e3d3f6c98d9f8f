// Graph simplification: named rules and passes in one pipeline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"
#include "passes/report.h"
#include "passes/rule_context.h"

namespace sardonyx::passes {

// What looks at a model as a whole, where a rule (rule.h) looks at a node.
struct Pass {
  std::string_view name;
  // How often it changed something. Keeps names and metadata; in debug builds the verifier runs
  // after it.
  std::int64_t (*run)(RuleContext& context);
  bool changes_weights = false;  // replaces weights by what is computed of them
  // Whether ONNX Runtime computes something else without it.
  bool corrects = false;
};

// Runs the pipeline. Throws SX1801 where it has nothing called options.stop_after.
Report optimize(onnx::Model& model, const Options& options);
// The names of what changed the model, in order.
std::vector<std::string> optimize(onnx::Model& model, std::string_view stop_after = {},
                                  bool keep_weights = false);

// Runs the passes alone without which ONNX Runtime computes something else.
void correct(onnx::Model& model);

// Erases nodes whose outputs nothing reads, in bodies and functions too.
bool drop_unused_nodes(onnx::Model& model);

// Writes DequantizeLinear of weights out where their products are to be those of real numbers: ONNX
// Runtime rounds the other factor to 8 bits otherwise (MatMulNBits, off by half a percent).
bool spell_out_weights(onnx::Model& model);

// Makes int8 factors uint8, 128 more, beside first factors of uint8: on x86 without VNNI, ONNX
// Runtime adds the products of uint8 and int8 in 16 bits, which are too few. Weights are changed as
// they are written, or where `keep_weights` at run time.
bool unsigned_factors(onnx::Model& model, bool keep_weights);

// The names of the rules and passes in the order they run.
std::vector<std::string_view> pipeline();

}  // namespace sardonyx::passes

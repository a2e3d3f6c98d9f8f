// Graph simplification: named rules and passes in one pipeline.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"
#include "rewriting/report.h"
#include "rewriting/rule_context.h"

namespace sardonyx::passes {

using namespace rewriting;

// What looks at a model as a whole, where a rule (rule.h) looks at a node.
struct Pass {
  std::string_view name;
  // How often it changed something. Keeps names and metadata; in debug builds the verifier runs
  // after it.
  std::int64_t (*run)(RuleContext& context);
  bool changes_weights = false;  // replaces weights by what is computed of them
  bool foreign = false;          // for other people's models alone
};

// Runs the pipeline. Throws SX1801 for a name in the options that nothing of it has.
Report optimize(onnx::Model& model, const Options& options);
// The names of what changed the model, in order.
std::vector<std::string> optimize(onnx::Model& model, std::string_view stop_after = {},
                                  bool keep_weights = false);

// After lowering: computes once what was put round weights, drops what nobody reads any more, and
// what would be in the way of rules that look for forms. Options name what may be of the pipeline.
Report tidy(onnx::Model& model, const Options& options);
// Whether it is a rule or pass of tidy() alone.
bool is_of_tidying(std::string_view name);

// Emits other people's models anew. True when the model has changed.
bool canonicalize(onnx::Model& model);

// The branch that is taken for each If on a constant. True when the model has changed.
bool inline_constant_if(onnx::Model& model);

// Before loops, what comes out the same in each of their runs. How many nodes were moved.
std::int64_t loop_invariant_code_motion(RuleContext& context);

// Smaller values where those that read them broadcast. How many nodes went.
std::int64_t sink_broadcast(RuleContext& context);

// Fewer transpositions round nodes that work alike on all axes. How many nodes were moved.
std::int64_t propagate_transposes(RuleContext& context);

// One weight for those of the same numbers. True when the model has changed.
bool share_weights(onnx::Model& model);

// Inputs that have a value where callers give none become constants of this value. How many.
std::int64_t freeze_initializers(onnx::Model& model);
// Whether an exporter listed all weights among the inputs out of habit, so that nobody chose it.
bool lists_all_initializers(const onnx::Model& model);
// How many weights that are read callers may replace: those that it would help.
std::int64_t count_overridable_weights(const onnx::Model& model);

// For a model that is to refer to its weights in files: weights that lie in one in another order of
// axes or another floating type become what lies there, with nodes that make the weight of it.
// `stays` says of a tensor that lies in memory row by row whether that is such a file. How many
// were changed.
std::int64_t reference_external_weights(onnx::Model& model,
                                        const std::function<bool(const onnx::Tensor&)>& stays);

// Erases nodes whose outputs nothing reads, in bodies and functions too.
bool drop_unused_nodes(onnx::Model& model);

// The names of the rules and passes in the order they run, those of tidy() alone last.
std::vector<std::string_view> pipeline();

}  // namespace sardonyx::passes

// Models that exist: made simpler, of another opset or precision, and for a target.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "onnx/emit/inlining.h"
#include "onnx/graph/count_nodes.h"
#include "onnx/graph/structure.h"
#include "onnx/infer/infer_model.h"
#include "passes/former_names.h"
#include "passes/outlining/outline_layers.h"
#include "passes/passes.h"
#include "pipeline/dims.h"
#include "pipeline/precision.h"
#include "pipeline/snapshot.h"
#include "pipeline/stages.h"
#include "sardonyx/sardonyx.h"
#include "targets/raise.h"

namespace sardonyx {
namespace pipeline {
namespace {

// Of this opset on, models that somebody else made keep theirs.
constexpr std::int64_t kOldestKept = 9;
// Of this one on, it has what rules may make.
constexpr std::int64_t kOldestSafe = 11;

// A model with operators of a runtime is for that runtime alone, which a newer opset may serve
// better.
std::int64_t opset_to_begin_with(const targets::Target& target, const OptimizeOptions& options,
                                 std::int64_t own) {
  const bool is_for_it_alone = !options.runtime.empty() && !target.fusions.empty();
  return is_for_it_alone ? std::max(own, target.opset) : own;
}

// Whether the user asks for a runtime with an accelerator: what neither this nor the CPU next to it
// has a kernel for would not be loaded at all.
bool asks_for_accelerator(const OptimizeOptions& options) {
  return !options.runtime.empty() && target_of(options.runtime).is_accelerated();
}

[[noreturn]] void refuse_precision(const onnx::Model& model, std::int64_t opset) {
  if (model.has_training)
    base::fail("SX1803", "the model says how it is trained, by the names of its values",
               "remove training_info from it, or leave its precision as it is");
  base::fail(
      "SX1815",
      fmt::format("precision is changed from opset {} on, and not in {}", kOldestKept, opset),
      "ask for a newer opset");
}

// A file need not declare the range of a dimension, but its operators may show it: a table of 512
// positions takes no more.
void check_fixed(onnx::Model& model, const std::vector<onnx::TypeConflict>& before) {
  const auto is_known = [&](const onnx::TypeConflict& conflict) {
    return std::ranges::any_of(before, [&](const onnx::TypeConflict& other) {
      return other.is_rejected && other.node == conflict.node;
    });
  };
  for (const onnx::TypeConflict& each : onnx::infer_types(model))
    if (each.is_rejected && !is_known(each))
      base::fail("SX1019",
                 fmt::format("the model does not run with these fixed sizes: {} (node {})",
                             each.message, each.node),
                 "use sizes that the model takes");
}

constexpr std::string_view kFreezing = "freeze-initializers";

void hint_at_freezing(const onnx::Model& model, OptimizationReport& done) {
  const std::int64_t weights = passes::count_overridable_weights(model);
  if (weights == 0) return;
  done.declined.push_back(
      {std::string(kFreezing),
       {},
       fmt::format("{} weights are inputs too, so that nothing is folded into them and runtimes do "
                   "not prepare them; --freeze-initializers makes them constants",
                   weights)});
}

void outline(onnx::Model& model, const OptimizeOptions& options, OptimizationReport& done) {
  const std::int64_t calls = options.functions ? passes::outline_layers(model) : 0;
  if (calls > 0) done.applied.push_back({"functions", calls});
}

// `as_it_is`: in its own operators.
OptimizationReport simplify(onnx::Model& inner, const OptimizeOptions& options, bool as_it_is) {
  std::string runtime = options.runtime.empty() ? inner.target : options.runtime;
  if (runtime.empty()) runtime = targets::targets().front().name;
  const targets::Target& target = target_of(runtime);
  if (options.opset) check_opset(*options.opset);
  check(options.precision, target);
  // What a file is wrong in anyway is no question of its sizes.
  std::vector<onnx::TypeConflict> conflicts;
  if (!options.dims.fixed.empty()) conflicts = onnx::infer_types(inner);
  set_dims(inner, options.dims);
  if (!options.dims.fixed.empty()) check_fixed(inner, conflicts);
  const std::int64_t own = onnx::opset_of(inner.graph);
  const rewriting::Options passing{.stop_after = passes::current_name(options.stop_after),
                                   .infer_types = true,
                                   .limits = {},
                                   .tuning = target.tuning,
                                   .disabled = passes::current_names(options.disable),
                                   .record_rules = options.record_rules,
                                   .quantized_block_size = quantized_block_size(options.precision)};
  // Older models stay what they are, unless they are to become newer ones.
  const bool has_target = options.opset || (own >= kOldestKept && own <= kNewestOpset && !as_it_is);
  if (!has_target || inner.has_training) {
    if (!options.precision.to.empty()) refuse_precision(inner, own);
    OptimizationReport done = optimization_report(passes::optimize(inner, passing));
    outline(inner, options, done);
    return done;
  }
  const std::int64_t wanted = opset_for(options.precision, target, options.opset,
                                        opset_to_begin_with(target, options, own));
  const std::vector<onnx::TypeConflict> disputes = onnx::infer_types(inner);
  targets::raise(inner,
                 options.inline_functions || onnx::has_functions_of_other_operators(inner, wanted));
  const bool late = fuses_in_half(target, options.precision);
  rewriting::Report report = rewritten(inner, target, passing, !late);
  for (const onnx::TypeConflict& each : disputes)
    report.declined.insert(report.declined.begin(), {"infer-types", each.node, each.message});
  OptimizationReport done = optimization_report(report);
  change_precision(inner, options.precision, target, done, [&] {
    if (late) add_report(done, rewritten(inner, target, passing));
  });
  const bool is_free = !options.opset && !options.runtime.empty() && wanted == target.opset;
  const std::int64_t opset = is_free ? targets::best_opset(inner, target) : wanted;
  lower_or_name_rules(inner, target,
                      {.opset = opset, .keep_what_fails = !asks_for_accelerator(options)}, done);
  tidy(inner, passing, done);
  report_placement(inner, target, opset, done);
  if (auto warning = warning_of_placement(inner, target, opset))
    done.notes.push_back(*std::move(warning));
  outline(inner, options, done);
  return done;
}

Model read_again(const Model& model) {
  Model again = read_model(model.file());
  again.internal().target = model.internal().target;
  return again;
}

// How many initializers became constants. By default where listing the weights among the inputs was
// nobody's choice.
std::int64_t freeze_initializers(Model& model, const OptimizeOptions& options) {
  onnx::Model& graphs = model.internal();
  const bool is_freezing =
      options.freeze_initializers.value_or(passes::lists_all_initializers(graphs));
  return is_freezing ? passes::freeze_initializers(graphs) : 0;
}

Model restored(const Snapshot& snapshot, const OptimizeOptions& options) {
  Model model = snapshot.restored();
  freeze_initializers(model, options);
  return model;
}

// Rules make operators of the newest opset. Those whose operators do not come back to the target
// are left out.
OptimizationReport simplify_without(Model& model, OptimizeOptions options, const Snapshot& before) {
  const std::vector<std::string> disabled = options.disable;
  std::optional<NotLowered> problem;
  const auto simplified = [&](const std::vector<std::string>& rules) {
    options.disable = disabled;
    options.disable.insert(options.disable.end(), rules.begin(), rules.end());
    return simplify(model.internal(), options, /*as_it_is=*/false);
  };
  try {
    return simplified({});
  } catch (const NotLowered& error) {
    problem = error;
  }
  const auto simplified_anew = [&](const std::vector<std::string>& rules) {
    model = restored(before, options);
    return simplified(rules);
  };
  const std::vector<std::string> rules = rules_to_leave_out(*problem, simplified_anew);
  OptimizationReport done = simplified_anew(rules);
  add_left_out(done, rules, *problem);
  return done;
}

bool lacks_kernels(const targets::Unsupported& error) {
  return std::ranges::any_of(error.diagnostics(),
                             [](const Diagnostic& each) { return each.code == "SX1505"; });
}

// A model whose opset and precision are to stay is refused only where an accelerator is asked for
// that, with the CPU, lacks a kernel: what does not come back to its opset, or to opsets 9 and 10
// in more nodes than before, is simplified as it is.
OptimizationReport simplify_or_keep(Model& model, const OptimizeOptions& options) {
  const std::int64_t own = onnx::opset_of(model.internal().graph);
  const bool stays = own >= kOldestKept && !options.opset && options.precision.to.empty();
  const Snapshot snapshot(model);
  const std::int64_t before = model.node_count();
  std::vector<OptimizationReport::Declined> reasons;
  try {
    OptimizationReport done = simplify_without(model, options, snapshot);
    if (!stays || own >= kOldestSafe || model.node_count() <= before) return done;
    reasons = {{"lower", {}, "there would be more nodes than before"}};
  } catch (const targets::Unsupported& error) {
    if (!stays || (asks_for_accelerator(options) && lacks_kernels(error))) throw;
    for (const Diagnostic& each : error.diagnostics())
      reasons.push_back({"lower", each.node, each.message});
  }
  model = restored(snapshot, options);
  OptimizationReport done = simplify(model.internal(), options, /*as_it_is=*/true);
  done.declined.insert(done.declined.end(), reasons.begin(), reasons.end());
  return done;
}

}  // namespace
}  // namespace pipeline

OptimizationReport simplify(Model& model, const OptimizeOptions& options) {
  using namespace pipeline;
  const std::int64_t before = model.node_count();
  // Of a model in memory it is asked before it changes, of a file only when it matters.
  const std::filesystem::path file = options.is_as_read ? model.file() : std::filesystem::path();
  const bool was_valid = !file.empty() || conforms(model.internal());
  const std::int64_t frozen = freeze_initializers(model, options);
  const auto structure = [&] { return file.empty() ? 0 : onnx::structure_of(model.internal()); };
  const std::uint64_t structure_before = structure();
  OptimizationReport done = simplify_or_keep(model, options);
  // What comes out as it was but for names and order keeps these: nothing is done twice.
  const bool has_other_dims = !options.dims.fixed.empty() || !options.dims.max.empty();
  if (!file.empty() && frozen == 0 && !has_other_dims && structure() == structure_before) {
    model = read_again(model);
    done.applied.clear();
  }
  if (frozen > 0) done.applied.insert(done.applied.begin(), {std::string(kFreezing), frozen});
  hint_at_freezing(model.internal(), done);
  // What is wrong in a file is not our fault.
  try {
    if (was_valid) check_schemas(model.internal());
  } catch (const Error&) {
    if (file.empty() || conforms(read_model(file).internal())) throw;
  }
  done.nodes_before = before;
  done.nodes_after = model.node_count();
  return done;
}

std::vector<std::string> optimize(Model& model, const OptimizeOptions& options) {
  std::vector<std::string> names;
  for (OptimizationReport::Applied& each : simplify(model, options).applied)
    names.push_back(std::move(each.name));
  return names;
}

}  // namespace sardonyx

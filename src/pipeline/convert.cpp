#include "pipeline/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "functionalize/functionalize.h"
#include "onnx/graph/count_nodes.h"
#include "passes/former_names.h"
#include "passes/outlining/outline_modules.h"
#include "pipeline/dims.h"
#include "pipeline/precision.h"
#include "pipeline/stages.h"
#include "program/ir/kept_sizes.h"
#include "program/ir/recorded_guards.h"
#include "program/text/node_text.h"
#include "refresh/record.h"

namespace sardonyx::pipeline {
namespace {

aten::TranslateOptions translate_options(const ConvertOptions& options, std::int64_t opset) {
  aten::TranslateOptions result;
  result.emit.opset = opset;
  result.input_names = options.input_names;
  result.output_names = options.output_names;
  result.mutated_buffers_as_outputs = options.mutations_as_outputs;
  result.emit.domain_versions = options.domain_versions;
  result.fall_through = static_cast<aten::UnsupportedOps>(options.fall_through);
  result.assertions_as_outputs = options.assertions_as_outputs;
  return result;
}

// The diagnostic that asks for the newest opset, when a newer opset cures all of them.
const Diagnostic* cured_by_newer(const Error& error, std::int64_t opset) {
  const auto needs = [](const Diagnostic& diagnostic) { return diagnostic.needs_opset; };
  const auto cured = [&](const Diagnostic& diagnostic) { return needs(diagnostic) > opset; };
  const bool all = std::ranges::all_of(error.diagnostics(), cured);
  return all ? &*std::ranges::max_element(error.diagnostics(), {}, needs) : nullptr;
}

Diagnostic note_of_newer(Diagnostic needs, std::int64_t wanted) {
  needs.code = "SX1312";
  needs.severity = Severity::kNote;
  needs.message = fmt::format("the model is of opset {} rather than {}, because {}",
                              needs.needs_opset, wanted, needs.message);
  needs.help = "see that the runtime knows this opset; an opset_version of yours is kept to";
  return needs;
}

// Throws what the translation could not do, and what the target cannot do of the rest.
[[noreturn]] void refuse(onnx::Model& partial, const targets::Target& target, std::int64_t opset,
                         std::vector<Diagnostic> failures) {
  try {
    targets::lower(partial, target, {.opset = opset});
  } catch (const Error& error) {
    failures.insert(failures.begin(), error.diagnostics().begin(), error.diagnostics().end());
  }
  throw Error(std::move(failures));
}

// From the functional program to a model that the target takes.
std::unique_ptr<onnx::Model> convert_once(std::int64_t wanted, const targets::Target& target,
                                          const program::Program& program,
                                          const ConvertOptions& options,
                                          const aten::CustomLookup& custom,
                                          const aten::NamedValues& shown,
                                          std::vector<Diagnostic>& notes) {
  aten::TranslateOptions translation = translate_options(options, wanted);
  translation.custom = custom;
  translation.shown = &shown;
  translation.on_note = [&](const Diagnostic& note) { notes.push_back(note); };
  std::vector<Diagnostic> failures;
  translation.failures = &failures;
  std::unique_ptr<onnx::Model> model = aten::translate(program, translation);
  if (!failures.empty()) refuse(*model, target, wanted, std::move(failures));
  set_dims(*model, options.dims);
  const rewriting::Options passing{.stop_after = passes::current_name(options.stop_after),
                                   .keep_weights = !options.fold_weights,
                                   .limits = {},
                                   .tuning = target.tuning,
                                   .disabled = passes::current_names(options.disable),
                                   .record_rules = options.record_rules,
                                   .quantized_block_size = quantized_block_size(options.precision)};
  const bool late = options.optimize && fuses_in_half(target, options.precision);
  OptimizationReport done;
  const std::int64_t before = onnx::count_nodes(*model->graph);
  if (options.optimize) done = optimization_report(rewritten(*model, target, passing, !late));
  change_precision(*model, options.precision, target, done, [&] {
    if (late) add_report(done, rewritten(*model, target, passing));
  });
  const bool is_free = !options.opset && wanted == target.opset;
  const std::int64_t opset = is_free ? targets::best_opset(*model, target) : wanted;
  lower_or_name_rules(
      *model, target,
      {.opset = opset,
       .change_weights = options.fold_weights,
       .alike = options.all_modules_as_functions || !options.modules_as_functions.empty()},
      done);
  if (options.optimize) tidy(*model, passing, done);
  report_placement(*model, target, opset, done);
  if (auto warning = warning_of_placement(*model, target, opset))
    notes.push_back(*std::move(warning));
  done.nodes_before = before;
  done.nodes_after = onnx::count_nodes(*model->graph);
  const bool is_reported = options.optimize || !options.precision.to.empty();
  if (is_reported && options.on_simplified) options.on_simplified(done);
  return model;
}

std::unique_ptr<onnx::Model> convert_at(std::int64_t opset, const targets::Target& target,
                                        const program::Program& program, ConvertOptions options,
                                        const aten::CustomLookup& custom,
                                        const aten::NamedValues& shown,
                                        std::vector<Diagnostic>& notes) {
  const std::size_t note_count = notes.size();
  const std::vector<std::string> disabled = options.disable;
  std::optional<NotLowered> problem;
  const auto convert_without = [&](const std::vector<std::string>& rules) {
    notes.resize(note_count);
    options.disable = disabled;
    options.disable.insert(options.disable.end(), rules.begin(), rules.end());
    return convert_once(opset, target, program, options, custom, shown, notes);
  };
  try {
    return convert_without({});
  } catch (const NotLowered& error) {
    problem = error;
  }
  const auto on_simplified = std::exchange(options.on_simplified, {});
  const std::vector<std::string> rules = rules_to_leave_out(*problem, convert_without);
  if (on_simplified)
    options.on_simplified = [&](OptimizationReport done) {
      add_left_out(done, rules, *problem);
      on_simplified(done);
    };
  return convert_without(rules);
}

// At the opset that was asked for; or at the default, or the oldest newer one that will do.
std::unique_ptr<onnx::Model> convert_to(const targets::Target& target,
                                        const program::Program& program,
                                        const ConvertOptions& options,
                                        const aten::CustomLookup& custom,
                                        const aten::NamedValues& shown,
                                        std::vector<Diagnostic>& notes) {
  if (options.opset) check_opset(*options.opset);
  check(options.precision, target);
  std::int64_t opset = opset_for(options.precision, target, options.opset, target.opset);
  try {
    return convert_at(opset, target, program, options, custom, shown, notes);
  } catch (const Error& error) {
    const Diagnostic* needs = options.opset ? nullptr : cured_by_newer(error, opset);
    if (needs == nullptr) throw;
    notes = {note_of_newer(*needs, opset)};
    opset = needs->needs_opset;
  }
  try {
    return convert_at(opset, target, program, options, custom, shown, notes);
  } catch (Error& error) {
    throw error.within("after: " + notes.front().message);
  }
}

bool same_data(const program::Weight& a, const program::Weight& b) {
  return a.storage == b.storage && a.offset == b.offset && a.dtype == b.dtype &&
         a.shape == b.shape && a.strides == b.strides;
}

// Of tied weights the model has the one that comes first.
std::shared_ptr<refresh::Origins> origins_of(const program::Program& program) {
  auto origins = std::make_shared<refresh::Origins>();
  std::map<const program::Storage*, std::vector<const program::InputSpec*>> sharing;
  for (const program::InputSpec& spec : program.inputs) {
    if (spec.value == nullptr || spec.value->weight == nullptr) continue;
    const bool in_state_dict = spec.kind == program::InputKind::kParameter ||
                               (spec.kind == program::InputKind::kBuffer && spec.persistent);
    if (!in_state_dict) origins->local.insert(spec.target);
    const program::Weight& weight = *spec.value->weight;
    if (weight.storage == nullptr || weight.storage->data == nullptr) continue;
    std::vector<const program::InputSpec*>& earlier = sharing[weight.storage];
    const auto first = std::ranges::find_if(
        earlier, [&](const auto* each) { return same_data(*each->value->weight, weight); });
    if (first == earlier.end()) {
      earlier.push_back(&spec);
    } else if (in_state_dict) {
      origins->tied.emplace(spec.target, (*first)->target);
      origins->local.erase((*first)->target);
    }
  }
  return origins;
}

}  // namespace

Model convert(Program program, const ConvertOptions& options, const aten::CustomLookup& lookup) {
  const targets::Target& target = target_of(options.runtime);
  program::record_node_texts(program.internal());
  aten::NamedValues shown;
  if (options.values_as_outputs) shown = aten::name_values(program.internal());
  std::shared_ptr<refresh::Origins> origins = origins_of(program.internal());
  const std::vector<Diagnostic> kept = program::notes_of_kept_sizes(program.internal());
  std::vector<Diagnostic> guards;
  if (options.on_note) guards = program::notes_of_recorded_guards(program.internal());
  functionalize::functionalize(program.internal());
  std::vector<Diagnostic> notes;
  Model model(convert_to(target, program.internal(), options, lookup, shown, notes));
  model.set_origins(std::move(origins));
  if (options.on_note) {
    std::ranges::for_each(guards, options.on_note);
    std::ranges::for_each(kept, options.on_note);
    std::ranges::for_each(program.internal().notes, options.on_note);
    std::ranges::for_each(notes, options.on_note);
  }
  if (options.all_modules_as_functions || !options.modules_as_functions.empty()) {
    passes::outline_modules(model.internal(), [&](std::string_view type) {
      return options.all_modules_as_functions ||
             std::ranges::find(options.modules_as_functions, type) !=
                 options.modules_as_functions.end();
    });
  }
  check_schemas(model.internal());
  onnx::verify(model.internal());
  return model;
}

}  // namespace sardonyx::pipeline

// The public interface over the layers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <utility>

#include "api/convert.h"
#include "api/file_kinds.h"
#include "api/plugin.h"
#include "api/precision.h"
#include "api/snapshot.h"
#include "aten/translation/translate.h"
#include "base/parallel_for.h"
#include "functionalize/functionalize.h"
#include "onnx/emit/inlining.h"
#include "onnx/graph/count_nodes.h"
#include "onnx/graph/structure.h"
#include "onnx/infer/conformance.h"
#include "onnx/infer/infer_model.h"
#include "passes/former_names.h"
#include "passes/outlining/outline_layers.h"
#include "passes/outlining/outline_modules.h"
#include "passes/passes.h"
#include "program/ir/kept_sizes.h"
#include "program/text/node_text.h"
#include "proto/reader/read.h"
#include "proto/writer/write.h"
#include "sardonyx/sardonyx.h"
#include "targets/fuse.h"
#include "targets/lower.h"
#include "targets/raise.h"

namespace sardonyx {
namespace {

void tell(OptimizationReport& result, const rewriting::Report& report) {
  for (const rewriting::Applied& each : report.applied) {
    const auto before =
        std::ranges::find(result.applied, each.name, &OptimizationReport::Applied::name);
    if (before == result.applied.end()) {
      result.applied.push_back({each.name, each.count});
    } else {
      before->count += each.count;
    }
  }
  for (const rewriting::Declined& each : report.declined)
    result.declined.push_back({each.rule, each.node, each.reason});
}

OptimizationReport told(const rewriting::Report& report) {
  OptimizationReport result;
  tell(result, report);
  return result;
}

// Behind lowering, unless an earlier rule was to be the last.
void tidy(onnx::Model& model, const rewriting::Options& options, OptimizationReport& done) {
  if (options.stop_after.empty() || passes::is_of_tidying(options.stop_after))
    tell(done, passes::tidy(model, options));
}

const targets::Target& target_of(const std::string& name) {
  if (const targets::Target* target = targets::find_target(name)) return *target;
  base::fail("SX1010", fmt::format("there is no target runtime `{}`", name),
             fmt::format("choose one of {}", fmt::join(target_names(), ", ")));
}

void check_opset(std::int64_t opset) {
  if (opset >= kOldestOpset && opset <= kNewestOpset) return;
  base::fail("SX1002",
             fmt::format("opset {} is not one of {} to {}", opset, kOldestOpset, kNewestOpset));
}

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

// By the passes, and behind them by the fusions of the target: a name is of either.
rewriting::Report rewritten(onnx::Model& model, const targets::Target& target,
                            const rewriting::Options& options) {
  rewriting::Options passing = options;
  std::erase_if(passing.disabled, targets::is_fusion);
  const bool stops_behind = targets::is_fusion(options.stop_after);
  if (stops_behind) passing.stop_after = {};
  rewriting::Report report = passes::optimize(model, passing);
  if (options.stop_after.empty() || stops_behind || passes::is_of_tidying(options.stop_after))
    targets::fuse(model, target, options, report);
  return report;
}

// What the target does not support of a model, and the rules that had changed it.
class NotLowered : public targets::Unsupported {
 public:
  NotLowered(const Unsupported& error, const OptimizationReport& done) : Unsupported(error) {
    // What precision changed is no rule.
    const std::vector<std::string> rules = rule_names();
    for (const OptimizationReport::Applied& each : done.applied)
      if (std::ranges::find(rules, each.name) != rules.end()) applied_.push_back(each.name);
  }
  const std::vector<std::string>& applied() const { return applied_; }

 private:
  std::vector<std::string> applied_;
};

void lower_or_name_rules(onnx::Model& model, const targets::Target& target,
                         const targets::LowerOptions& options, const OptimizationReport& done) {
  try {
    targets::lower(model, target, options);
  } catch (const targets::Unsupported& error) {
    throw NotLowered(error, done);
  }
}

// The last rule without which it works, or with it those that were applied after it; none where it
// works without none of them.
std::vector<std::string> rules_to_leave_out(
    const std::vector<std::string>& applied,
    const std::function<bool(const std::vector<std::string>&)>& works) {
  const auto from = [&](std::size_t first) {
    return std::vector<std::string>(applied.begin() + static_cast<std::ptrdiff_t>(first),
                                    applied.end());
  };
  if (applied.empty() || !works(applied)) return {};
  // It works without those from `first` on, and not without those from `last` on alone.
  std::size_t first = 0, last = applied.size();
  while (last - first > 1) {
    const std::size_t middle = first + (last - first) / 2;
    (works(from(middle)) ? first : last) = middle;
  }
  const std::vector<std::string> alone = {applied[first]};
  return works(alone) ? alone : from(first);
}

void add_left_out(OptimizationReport& done, const std::vector<std::string>& rules,
                  const Error& problem) {
  const Diagnostic& first = problem.diagnostics().front();
  for (const std::string& rule : rules)
    done.declined.push_back({rule, first.node, "the target cannot have it: " + first.message});
}

// From the functional program to a model that the target takes.
std::unique_ptr<onnx::Model> convert_once(std::int64_t opset, const targets::Target& target,
                                          const program::Program& program,
                                          const ConvertOptions& options,
                                          const aten::CustomLookup& custom,
                                          const aten::NamedValues& shown,
                                          std::vector<Diagnostic>& notes) {
  aten::TranslateOptions translation = translate_options(options, opset);
  translation.custom = custom;
  translation.shown = &shown;
  translation.on_note = [&](const Diagnostic& note) { notes.push_back(note); };
  std::vector<Diagnostic> failures;
  translation.failures = &failures;
  std::unique_ptr<onnx::Model> model = aten::translate(program, translation);
  if (!failures.empty()) refuse(*model, target, opset, std::move(failures));
  const rewriting::Options passing{.stop_after = passes::current_name(options.stop_after),
                                   .keep_weights = !options.fold_weights,
                                   .limits = {},
                                   .disabled = passes::current_names(options.disable)};
  OptimizationReport done;
  const std::int64_t before = onnx::count_nodes(*model->graph);
  if (options.optimize) done = told(rewritten(*model, target, passing));
  change_precision(*model, options.precision, target.name, done);
  lower_or_name_rules(
      *model, target,
      {.opset = opset,
       .change_weights = options.fold_weights,
       .alike = options.all_modules_as_functions || !options.modules_as_functions.empty()},
      done);
  if (options.optimize) tidy(*model, passing, done);
  done.nodes_before = before;
  done.nodes_after = onnx::count_nodes(*model->graph);
  const bool is_told = options.optimize || !options.precision.to.empty();
  if (is_told && options.on_simplified) options.on_simplified(done);
  return model;
}

std::unique_ptr<onnx::Model> convert_at(std::int64_t opset, const targets::Target& target,
                                        const program::Program& program, ConvertOptions options,
                                        const aten::CustomLookup& custom,
                                        const aten::NamedValues& shown,
                                        std::vector<Diagnostic>& notes) {
  const std::size_t told = notes.size();
  const std::vector<std::string> disabled = options.disable;
  std::optional<NotLowered> problem;
  const auto convert_without = [&](const std::vector<std::string>& rules) {
    notes.resize(told);
    options.disable = disabled;
    options.disable.insert(options.disable.end(), rules.begin(), rules.end());
    return convert_once(opset, target, program, options, custom, shown, notes);
  };
  try {
    return convert_without({});
  } catch (const NotLowered& error) {
    problem = error;
  }
  const auto works = [&](const std::vector<std::string>& rules) {
    try {
      convert_without(rules);
      return true;
    } catch (const targets::Unsupported&) {
      return false;
    }
  };
  const auto on_simplified = std::exchange(options.on_simplified, {});
  const std::vector<std::string> rules = rules_to_leave_out(problem->applied(), works);
  if (rules.empty()) throw *problem;
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
  check(options.precision);
  std::int64_t opset = opset_for(options.precision, target.name, options.opset, target.opset);
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

// Before anything is written. Throws SX1501.
void check_schemas(onnx::Model& model) {
  std::vector<Diagnostic> found;
  for (std::string& each : onnx::violations(model, onnx::Depth::kTypes)) {
    Diagnostic& diagnostic = found.emplace_back();
    diagnostic.code = "SX1501";
    diagnostic.message = std::move(each);
    diagnostic.help = "this is a defect of Sardonyx; please report it";
  }
  if (!found.empty()) throw Error(std::move(found));
}

bool conforms(onnx::Model& model) { return onnx::violations(model, onnx::Depth::kSchemas).empty(); }

proto::WriteOptions write_options(const WriteOptions& options) {
  proto::WriteOptions result;
  result.external_data = static_cast<proto::WriteOptions::ExternalData>(options.external_data);
  result.include_initializers = options.include_initializers;
  result.keep_initializers_as_inputs = options.keep_initializers_as_inputs;
  result.include_metadata = options.include_metadata;
  result.strip_paths = options.strip_paths;
  result.in_place = options.in_place;
  result.progress = options.progress;
  return result;
}

}  // namespace

Program::Program(std::unique_ptr<program::Program> program) : program_(std::move(program)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

std::string Program::str() const { return program::to_string(*program_); }

Model::Model(std::unique_ptr<onnx::Model> model, bool has_data_file, std::filesystem::path file)
    : model_(std::move(model)), has_data_file_(has_data_file), file_(std::move(file)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

std::string Model::str() const { return onnx::to_string(*model_); }
std::int64_t Model::node_count() const { return onnx::count_nodes(*model_->graph); }

Model convert(Program program, const ConvertOptions& options) {
  return convert(std::move(program), options, {});
}

Model convert(Program program, const ConvertOptions& options, aten::CustomLookup custom) {
  const targets::Target& target = target_of(options.runtime);
  const plugin::Plugins plugins(options.plugins);
  const aten::CustomLookup lookup = [&](const program::Call& call) {
    const aten::CustomTranslator* found = custom ? custom(call) : nullptr;
    return found ? found : plugins.find(call);
  };
  program::record_node_texts(program.internal());
  aten::NamedValues shown;
  if (options.values_as_outputs) shown = aten::name_values(program.internal());
  const std::vector<Diagnostic> kept = program::notes_of_kept_sizes(program.internal());
  functionalize::functionalize(program.internal());
  std::vector<Diagnostic> notes;
  Model model(convert_to(target, program.internal(), options, lookup, shown, notes));
  if (options.on_note) {
    std::ranges::for_each(kept, options.on_note);
    std::ranges::for_each(program.internal().notes, options.on_note);
    std::ranges::for_each(notes, options.on_note);
  }
  model.internal().producer_version = version();
  if (options.all_modules_as_functions || !options.modules_as_functions.empty()) {
    passes::outline_modules(model.internal(), [&](std::string_view type) {
      return options.all_modules_as_functions ||
             std::ranges::find(options.modules_as_functions, type) !=
                 options.modules_as_functions.end();
    });
  }
  check_schemas(model.internal());
  return model;
}

bool translates(std::string_view op) {
  return aten::find_translator(op, /*complex=*/false) != nullptr;
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const targets::Target& target : targets::targets()) names.emplace_back(target.name);
  return names;
}

std::int64_t target_opset(const std::string& name) { return target_of(name).opset; }

namespace {

// What cannot be opened is left to the reader, which reports it.
void check_kind(const std::filesystem::path& path) {
  std::array<char, 16> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  const auto size = static_cast<std::size_t>(file.gcount());
  try {
    check_is_model(std::as_bytes(std::span(start)).first(size));
  } catch (Error& error) {
    throw error.within("while reading '" + path.string() + "'");
  }
}

}  // namespace

Model read_model(const std::filesystem::path& path) {
  check_kind(path);
  bool has_data_file = false;
  std::unique_ptr<onnx::Model> model = proto::read(path, &has_data_file);
  return Model(std::move(model), has_data_file, path);
}

std::vector<std::string> rule_names() {
  std::vector<std::string_view> names = passes::pipeline();
  for (const std::string_view fusion : targets::fusion_names()) names.push_back(fusion);
  return {names.begin(), names.end()};
}

void set_threads(int count) { base::set_threads(static_cast<std::size_t>(std::max(count, 0))); }

std::vector<std::string> optimize(Model& model, const OptimizeOptions& options) {
  std::vector<std::string> names;
  for (OptimizationReport::Applied& each : simplify(model, options).applied)
    names.push_back(std::move(each.name));
  return names;
}

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

[[noreturn]] void refuse_precision(const onnx::Model& model, std::int64_t opset) {
  if (model.has_training)
    base::fail("SX1803", "the model says how it is trained, by the names of its values",
               "remove training_info from it, or leave its precision as it is");
  base::fail(
      "SX1815",
      fmt::format("precision is changed from opset {} on, and not in {}", kOldestKept, opset),
      "ask for a newer opset");
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
  if (runtime.empty()) runtime = "onnxruntime";
  const targets::Target& target = target_of(runtime);
  if (options.opset) check_opset(*options.opset);
  check(options.precision);
  const std::int64_t own = onnx::opset_of(inner.graph);
  const rewriting::Options passing{.stop_after = passes::current_name(options.stop_after),
                                   .infer_types = true,
                                   .limits = {},
                                   .disabled = passes::current_names(options.disable)};
  // Older models stay what they are, unless they are to become newer ones.
  const bool has_target = options.opset || (own >= kOldestKept && own <= kNewestOpset && !as_it_is);
  if (!has_target || inner.has_training) {
    if (!options.precision.to.empty()) refuse_precision(inner, own);
    OptimizationReport done = told(passes::optimize(inner, passing));
    outline(inner, options, done);
    return done;
  }
  const std::int64_t opset = opset_for(options.precision, target.name, options.opset,
                                       opset_to_begin_with(target, options, own));
  const std::vector<onnx::TypeConflict> disputes = onnx::infer_types(inner);
  targets::raise(inner,
                 options.inline_functions || onnx::has_functions_of_other_operators(inner, opset));
  rewriting::Report report = rewritten(inner, target, passing);
  for (const onnx::TypeConflict& each : disputes)
    report.declined.insert(report.declined.begin(), {"infer-types", each.node, each.message});
  OptimizationReport done = told(report);
  change_precision(inner, options.precision, target.name, done);
  lower_or_name_rules(inner, target, {.opset = opset, .keep_what_fails = true}, done);
  tidy(inner, passing, done);
  outline(inner, options, done);
  return done;
}

Model read_again(const Model& model) {
  Model again = read_model(model.file());
  again.internal().target = model.internal().target;
  return again;
}

Model restored(const Snapshot& snapshot, const OptimizeOptions& options) {
  Model model = snapshot.restored();
  if (options.freeze_initializers) passes::freeze_initializers(model.internal());
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
  const auto works = [&](const std::vector<std::string>& rules) {
    try {
      model = restored(before, options);
      simplified(rules);
      return true;
    } catch (const targets::Unsupported&) {
      return false;
    }
  };
  const std::vector<std::string> rules = rules_to_leave_out(problem->applied(), works);
  if (rules.empty()) throw *problem;
  model = restored(before, options);
  OptimizationReport done = simplified(rules);
  add_left_out(done, rules, *problem);
  return done;
}

// A model whose opset and precision are to stay is never refused: what does not come back to its
// opset, or to opsets 9 and 10 in more nodes than before, is simplified as it is.
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
    if (!stays) throw;
    for (const Diagnostic& each : error.diagnostics())
      reasons.push_back({"lower", each.node, each.message});
  }
  model = restored(snapshot, options);
  OptimizationReport done = simplify(model.internal(), options, /*as_it_is=*/true);
  done.declined.insert(done.declined.end(), reasons.begin(), reasons.end());
  return done;
}

}  // namespace

OptimizationReport simplify(Model& model, const OptimizeOptions& options) {
  const std::int64_t before = model.node_count();
  // Of a model in memory it is asked before it changes, of a file only when it matters.
  const std::filesystem::path file = options.is_as_read ? model.file() : std::filesystem::path();
  const bool was_valid = !file.empty() || conforms(model.internal());
  const std::int64_t frozen =
      options.freeze_initializers ? passes::freeze_initializers(model.internal()) : 0;
  const auto structure = [&] { return file.empty() ? 0 : onnx::structure_of(model.internal()); };
  const std::uint64_t structure_before = structure();
  OptimizationReport done = simplify_or_keep(model, options);
  // What comes out as it was but for names and order keeps these: nothing is done twice.
  if (!file.empty() && frozen == 0 && structure() == structure_before) {
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

void write(const Model& model, const std::filesystem::path& path, const WriteOptions& options) {
  proto::WriteOptions writing = write_options(options);
  if (model.has_data_file() && options.external_data == ExternalData::kAuto)
    writing.external_data = proto::WriteOptions::ExternalData::kAlways;
  proto::write(model.internal(), path, writing);
}

std::string serialize(const Model& model, const WriteOptions& options) {
  return proto::serialize(model.internal(), write_options(options));
}

std::string_view version() { return SARDONYX_VERSION; }

}  // namespace sardonyx

// The public interface over the layers.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/convert.h"
#include "api/plugin.h"
#include "aten/translation/translate.h"
#include "frontends/pt2/pt2.h"
#include "functionalize/functionalize.h"
#include "passes/outline_modules.h"
#include "passes/passes.h"
#include "program/node_text.h"
#include "proto/read.h"
#include "proto/write.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

std::int64_t count_nodes(const onnx::Graph* graph) {
  std::int64_t count = 0;
  for (const onnx::Node* node = graph->first; node; node = node->next) {
    ++count;
    for (const onnx::Graph* body : onnx::bodies(node)) count += count_nodes(body);
  }
  return count;
}

aten::TranslateOptions translate_options(const ConvertOptions& options) {
  const std::int64_t opset = options.opset.value_or(kDefaultOpset);
  if (opset < kOldestOpset || opset > kNewestOpset) {
    base::fail("SX1002", "opset " + std::to_string(opset) + " is not one of " +
                             std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset));
  }
  aten::TranslateOptions result;
  result.emit.opset = opset;
  result.emit.runtime = options.runtime == Runtime::kStandard
                            ? onnx::TargetRuntime::kStandard
                            : onnx::TargetRuntime::kOnnxRuntimeCpu;
  result.input_names = options.input_names;
  result.output_names = options.output_names;
  result.mutated_buffers_as_outputs = options.mutations_as_outputs;
  result.emit.domain_versions = options.domain_versions;
  result.fall_through = static_cast<aten::FallThrough>(options.fall_through);
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

Diagnostic note_of_newer(Diagnostic needs) {
  needs.code = "SX1312";
  needs.severity = Severity::kNote;
  needs.message = fmt::format("the model is of opset {} rather than {}, because {}",
                              needs.needs_opset, kDefaultOpset, needs.message);
  needs.help = "see that the runtime knows this opset; an opset_version of yours is kept to";
  return needs;
}

// At the opset that was asked for; or at the default, or the oldest newer one that will do.
std::unique_ptr<onnx::Model> translate(const program::Program& program,
                                       aten::TranslateOptions options, bool may_choose,
                                       std::vector<Diagnostic>& notes) {
  options.on_note = [&](const Diagnostic& note) { notes.push_back(note); };
  try {
    return aten::translate(program, options);
  } catch (const Error& error) {
    const Diagnostic* needs = may_choose ? cured_by_newer(error, options.emit.opset) : nullptr;
    if (needs == nullptr) throw;
    notes = {note_of_newer(*needs)};
    options.emit.opset = needs->needs_opset;
  }
  try {
    return aten::translate(program, options);
  } catch (Error& error) {
    throw error.within("after: " + notes.front().message);
  }
}

Simplification told(const passes::Report& report) {
  Simplification result;
  for (const passes::Applied& each : report.applied)
    result.applied.push_back({each.name, each.count});
  for (const passes::Declined& each : report.declined)
    result.declined.push_back({each.rule, each.node, each.reason});
  return result;
}

proto::WriteOptions write_options(const WriteOptions& options) {
  proto::WriteOptions result;
  result.external_data = static_cast<proto::WriteOptions::ExternalData>(options.external_data);
  result.include_initializers = options.include_initializers;
  result.keep_initializers_as_inputs = options.keep_initializers_as_inputs;
  result.include_metadata = options.include_metadata;
  result.progress = options.progress;
  return result;
}

}  // namespace

Program::Program(std::unique_ptr<program::Program> program) : program_(std::move(program)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

std::string Program::str() const { return program::to_string(*program_); }

Model::Model(std::unique_ptr<onnx::Model> model) : model_(std::move(model)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

std::string Model::str() const { return onnx::to_string(*model_); }
std::int64_t Model::node_count() const { return count_nodes(model_->graph); }

Program read(const std::filesystem::path& path) { return Program(pt2::read_pt2(path)); }

Model convert(Program program, const ConvertOptions& options) {
  return convert(std::move(program), options, {});
}

Model convert(Program program, const ConvertOptions& options, aten::CustomLookup custom) {
  aten::TranslateOptions translation = translate_options(options);
  const plugin::Plugins plugins(options.plugins);
  translation.custom = [&](const program::Call& call) {
    const aten::CustomTranslator* found = custom ? custom(call) : nullptr;
    return found ? found : plugins.find(call);
  };
  program::record_node_texts(program.internal());
  functionalize::functionalize(program.internal());
  std::vector<Diagnostic> notes;
  Model model(translate(program.internal(), translation, !options.opset.has_value(), notes));
  if (options.on_note) std::ranges::for_each(notes, options.on_note);
  model.internal().producer_version = version();
  if (options.optimize) {
    const passes::Report report = passes::optimize(
        model.internal(),
        {.stop_after = options.stop_after, .keep_weights = !options.fold_weights, .limits = {}});
    if (options.on_simplified) options.on_simplified(told(report));
  } else {
    passes::correct(model.internal());
  }
  if (options.runtime != Runtime::kStandard) {
    passes::spell_out_weights(model.internal());
    passes::unsigned_factors(model.internal(), /*keep_weights=*/!options.fold_weights);
  }
  if (options.all_modules_as_functions || !options.modules_as_functions.empty()) {
    passes::outline_modules(model.internal(), [&](std::string_view type) {
      return options.all_modules_as_functions ||
             std::ranges::find(options.modules_as_functions, type) !=
                 options.modules_as_functions.end();
    });
  }
  return model;
}

bool translates(std::string_view op, std::int64_t opset) {
  return aten::find_translator(op, opset, /*complex=*/false) != nullptr;
}

Model read_model(const std::filesystem::path& path) { return Model(proto::read(path)); }

std::vector<std::string> optimize(Model& model, std::string_view stop_after) {
  return passes::optimize(model.internal(), stop_after);
}

Simplification simplify(Model& model, std::string_view stop_after) {
  return told(passes::optimize(model.internal(), {.stop_after = stop_after, .limits = {}}));
}

void write(const Model& model, const std::filesystem::path& path, const WriteOptions& options) {
  proto::write(model.internal(), path, write_options(options));
}

std::string serialize(const Model& model, const WriteOptions& options) {
  return proto::serialize(model.internal(), write_options(options));
}

std::string_view version() { return SARDONYX_VERSION; }

}  // namespace sardonyx

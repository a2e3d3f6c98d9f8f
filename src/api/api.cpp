// The public interface over the layers.
#include <algorithm>
#include <utility>

#include "api/convert.h"
#include "api/plugin.h"
#include "aten/translate.h"
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
  if (options.opset < kOldestOpset || options.opset > kNewestOpset) {
    base::fail("SX1002", "opset " + std::to_string(options.opset) + " is not one of " +
                             std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset));
  }
  aten::TranslateOptions result;
  result.emit.opset = options.opset;
  result.emit.runtime = options.runtime == Runtime::kStandard
                            ? onnx::TargetRuntime::kStandard
                            : onnx::TargetRuntime::kOnnxRuntimeCpu;
  result.input_names = options.input_names;
  result.output_names = options.output_names;
  result.mutated_buffers_as_outputs = options.mutations_as_outputs;
  result.emit.domain_versions = options.domain_versions;
  result.fall_through = static_cast<aten::FallThrough>(options.fall_through);
  result.assertions_as_outputs = options.assertions_as_outputs;
  result.on_note = options.on_note;
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
  Model model(aten::translate(program.internal(), translation));
  model.internal().producer_version = version();
  if (options.optimize) {
    passes::optimize(model.internal(), options.stop_after, /*keep_weights=*/!options.fold_weights);
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

void write(const Model& model, const std::filesystem::path& path, const WriteOptions& options) {
  proto::write(model.internal(), path, write_options(options));
}

std::string serialize(const Model& model, const WriteOptions& options) {
  return proto::serialize(model.internal(), write_options(options));
}

std::string_view version() { return SARDONYX_VERSION; }

}  // namespace sardonyx

// Programs and models in memory: read from files, printed, written.
#include <array>
#include <fstream>
#include <span>
#include <utility>

#include "onnx/graph/count_nodes.h"
#include "pipeline/file_kinds.h"
#include "program/ir/program.h"
#include "proto/reader/read.h"
#include "proto/writer/write.h"
#include "refresh/record.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

proto::WriteOptions write_options(const Model& model, const WriteOptions& options) {
  proto::WriteOptions result;
  result.external_data = static_cast<proto::WriteOptions::ExternalData>(options.external_data);
  result.include_initializers = options.include_initializers;
  result.keep_initializers_as_inputs = options.keep_initializers_as_inputs;
  result.include_metadata = options.include_metadata;
  result.strip_paths = options.strip_paths;
  result.in_place = options.in_place;
  result.progress = options.progress;
  if (model.origins() != nullptr && options.include_initializers && options.include_metadata)
    if (std::string text = refresh::record(model.internal(), *model.origins()); !text.empty())
      result.metadata.emplace(refresh::kKey, std::move(text));
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

namespace {

// Throws where a file that is no ONNX model is of a kind that another command reads.
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
  bool has_data_file = false;
  try {
    std::unique_ptr<onnx::Model> model = proto::read(path, &has_data_file);
    return Model(std::move(model), has_data_file, path);
  } catch (const Error&) {
    check_kind(path);
    throw;
  }
}

void write(const Model& model, const std::filesystem::path& path, const WriteOptions& options) {
  proto::WriteOptions writing = write_options(model, options);
  if (model.has_data_file() && options.external_data == ExternalData::kAuto)
    writing.external_data = proto::WriteOptions::ExternalData::kAlways;
  proto::write(model.internal(), path, writing);
}

std::string serialize(const Model& model, const WriteOptions& options) {
  return proto::serialize(model.internal(), write_options(model, options));
}

}  // namespace sardonyx

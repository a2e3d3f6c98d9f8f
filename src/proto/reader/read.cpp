#include "proto/reader/read.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "onnx/graph/ir.h"
#include "proto/reader/graph_reader.h"
#include "proto/wire/decoder.h"
#include "proto/wire/fields.h"

namespace sardonyx::proto {
namespace {

namespace fs = std::filesystem;

// The graph and the functions of a model, the other fields set already.
struct Body {
  std::string_view graph;
  bool has_graph = false;
  std::vector<std::string_view> functions;
};

Body read_fields(std::string_view message, onnx::Model& model) {
  namespace f = field::model;
  Body body;
  model.producer_name.clear();
  for (Decoder in(message); in.next();) {
    switch (in.field()) {
      case f::kIrVersion:
        model.ir_version = in.integer();
        break;
      case f::kProducerName:
        model.producer_name = in.text();
        break;
      case f::kProducerVersion:
        model.producer_version = in.text();
        break;
      case f::kDomain:
        model.domain = in.text();
        break;
      case f::kModelVersion:
        model.model_version = in.integer();
        break;
      case f::kDocString:
        model.doc = in.text();
        break;
      case f::kGraph:
        if (body.has_graph) base::fail("SX1152", "the model has two graphs");
        body.graph = in.text();
        body.has_graph = true;
        break;
      case f::kOpsetImport:
        read_opset(in.text(), model.opsets);
        break;
      case f::kMetadataProps:
        model.metadata.push_back(read_entry(in.text()));
        break;
      case f::kFunctions:
        body.functions.push_back(in.text());
        break;
      case f::kTrainingInfo:
        model.has_training = true;
        model.carried += in.whole();
        break;
      default:
        model.carried += in.whole();
        break;
    }
  }
  return body;
}

std::unique_ptr<onnx::Model> read_model(std::string_view message, DataSource& source) {
  auto model = std::make_unique<onnx::Model>(std::make_shared<symbolic::Pool>());
  const Body body = read_fields(message, *model);
  if (!body.has_graph) base::fail("SX1151", "this is no ONNX model: it has no graph");
  // Before operator sets (2017) an operator's version was not to be told.
  if (model->opsets.empty())
    base::fail("SX1153", fmt::format("the model imports no operator set (format version {})",
                                     model->ir_version));
  GraphReader reader(*model, source);
  reader.main_graph(body.graph);
  for (const std::string_view function : body.functions)
    model->functions.push_back(reader.function(function));
  return model;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::unique_ptr<onnx::Model> read_bytes(std::span<const std::byte> bytes,
                                        std::shared_ptr<const void> owner,
                                        std::vector<fs::path> roots, bool* has_data_file) {
  DataSource source{std::move(owner), ExternalData(std::move(roots))};
  std::unique_ptr<onnx::Model> model = read_model(text_of(bytes), source);
  if (has_data_file != nullptr) *has_data_file = source.external.was_read();
  return model;
}

}  // namespace

std::unique_ptr<onnx::Model> read(const fs::path& path, bool* has_data_file) {
  try {
    const auto file = std::make_shared<const base::MappedFile>(path.string());
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::vector<fs::path> roots = {folder};
    std::error_code error;
    // Model caches keep links to a model and its data side by side.
    if (const fs::path real = fs::canonical(path, error); !error)
      roots.push_back(real.parent_path());
    return read_bytes(file->bytes(), file, std::move(roots), has_data_file);
  } catch (base::Error& error) {
    error.within(fmt::format("while reading '{}'", path.string()));
    throw;
  }
}

std::unique_ptr<onnx::Model> parse(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner, const fs::path& folder) {
  std::vector<fs::path> roots;
  if (!folder.empty()) roots.push_back(folder);
  return read_bytes(bytes, std::move(owner), std::move(roots), nullptr);
}

std::unique_ptr<onnx::Model> parse(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner,
                                   std::map<std::string, BorrowedBytes> given) {
  DataSource source{std::move(owner), ExternalData({})};
  for (auto& [location, data] : given) source.external.give(location, std::move(data));
  return read_model(text_of(bytes), source);
}

}  // namespace sardonyx::proto

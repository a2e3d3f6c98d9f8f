#include "readers.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/diagnostic.h"
#include "frontends/archive/archive_for_test.h"
#include "frontends/archive/pickle.h"
#include "frontends/archive/zip.h"
#include "frontends/pt2/pt2.h"
#include "frontends/torchscript/syntax.h"
#include "frontends/torchscript/torchscript.h"
#include "onnx/graph/ir.h"
#include "proto/read.h"
#include "proto/write.h"
#include "sardonyx/sardonyx.h"
#include "symbolic/expr.h"

namespace sardonyx::fuzz {
namespace {

using Input = std::span<const std::byte>;

std::string text_of(Input bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::shared_ptr<const std::string> held(Input bytes) {
  return std::make_shared<const std::string>(text_of(bytes));
}

archive::Bytes archive_of(Input bytes) {
  const auto owner = held(bytes);
  return {std::as_bytes(std::span(*owner)), owner};
}

// A file that is written over and over, for readers that want one.
std::filesystem::path file_with(const std::string& content) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sardonyx-fuzz-" + std::to_string(getpid()));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  return path;
}

// Everything that the reader of archives gives is read.
void zip(Input bytes) {
  const archive::ZipReader reader(archive_of(bytes));
  for (const archive::ZipEntry& entry : reader.entries()) {
    try {
      (void)reader.read(entry);
    } catch (const base::Error&) {
      continue;
    }
  }
}

void pickle(Input bytes) { (void)archive::Pickle(bytes).root(); }

// As the model of an archive of torch.export's.
void json(Input bytes) {
  archive::ArchiveForTest made;
  made.add("archive/version", "0");
  made.add("archive/byteorder", "little");
  made.add("archive/archive_format", "pt2");
  made.add("archive/archive_version", "0");
  made.add("archive/models/model.json", text_of(bytes));
  made.add("archive/data/weights/model_weights_config.json", R"({"config": {}})");
  made.add("archive/data/constants/model_constants_config.json", R"({"config": {}})");
  (void)pt2::read_pt2(file_with(made.str()));
}

void pt2(Input bytes) { (void)pt2::read_pt2(file_with(text_of(bytes))); }

void torchscript_source(Input bytes) {
  (void)torchscript::parse_source("__torch__.py", text_of(bytes));
}

// The code is followed, too.
void torchscript(Input bytes) {
  torchscript::ReadOptions options;
  options.inputs = {"x:float32[n,3]"};
  (void)torchscript::read_torchscript(archive_of(bytes), options);
}

void srepr(Input bytes) {
  symbolic::Pool pool;
  (void)symbolic::parse_srepr(pool, text_of(bytes)).str();
}

void onnx(Input bytes) {
  const auto owner = held(bytes);
  const auto model = proto::parse(std::as_bytes(std::span(*owner)), owner);
  (void)onnx::to_string(*model);
  (void)proto::serialize(*model, {});
}

// What is read is optimised and written, as `sardonyx optimize` does.
void optimize(Input bytes) {
  Model model = read_model(file_with(text_of(bytes)));
  (void)sardonyx::simplify(model, {});
  (void)serialize(model, {});
}

}  // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"zip", zip, mutate_archive},
      {"pickle", pickle},
      {"json", json},
      {"pt2", pt2, mutate_archive},
      {"torchscript-source", torchscript_source},
      {"torchscript", torchscript, mutate_archive},
      {"srepr", srepr},
      {"onnx", onnx, mutate_message},
      {"optimize", optimize, mutate_message},
  };
  return all;
}

}  // namespace sardonyx::fuzz

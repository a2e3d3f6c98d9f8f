#include "readers.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "base/diagnostic.h"
#include "frontends/archive/archive_for_test.h"
#include "frontends/archive/pickle.h"
#include "frontends/archive/zip.h"
#include "frontends/checkpoints/distributed.h"
#include "frontends/checkpoints/gguf.h"
#include "frontends/checkpoints/safetensors.h"
#include "frontends/pt2/pt2.h"
#include "frontends/torchscript/syntax/syntax.h"
#include "frontends/torchscript/torchscript.h"
#include "onnx/graph/ir.h"
#include "plugin_player.h"
#include "proto/reader/read.h"
#include "proto/writer/write.h"
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

// An archive of torch.export's whose model this is.
std::string archive_of_model(const std::string& json) {
  archive::ArchiveForTest made;
  made.add("archive/version", "0");
  made.add("archive/byteorder", "little");
  made.add("archive/archive_format", "pt2");
  made.add("archive/archive_version", "0");
  made.add("archive/models/model.json", json);
  made.add("archive/data/weights/model_weights_config.json", R"({"config": {}})");
  made.add("archive/data/constants/model_constants_config.json", R"({"config": {}})");
  return made.str();
}

void json(Input bytes) { (void)pt2::read_pt2(file_with(archive_of_model(text_of(bytes)))); }

// What a plug-in may call, while a program of the corpus is converted.
void plugin(Input bytes) {
  static const std::filesystem::path path = [] {
    std::ifstream file("tests/fuzz/corpus/json/weightless", std::ios::binary);  // tools/fuzz.sh
    if (!file) std::abort();
    return file_with(archive_of_model({std::istreambuf_iterator<char>(file), {}}));
  }();
  play_plugin(bytes, Program(pt2::read_pt2(path)));
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

void safetensors_header(Input bytes) { (void)checkpoints::parse_safetensors(bytes, "file"); }

void shard_index(Input bytes) { (void)checkpoints::parse_shard_index(bytes, "file"); }

void gguf_header(Input bytes) { (void)checkpoints::parse_gguf(bytes, "file"); }

void distributed_metadata(Input bytes) { (void)checkpoints::parse_distributed(bytes, "file"); }

// A piece of a tensor of two rows and three columns.
void distributed_piece(Input bytes) {
  const checkpoints::Piece piece{{0, 0}, {2, 3}, "file", {0, bytes.size()}};
  (void)checkpoints::locate_piece(bytes, "file", "w", piece);
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

void optimize_for(Input bytes, const OptimizeOptions& options) {
  Model model = read_model(file_with(text_of(bytes)));
  (void)sardonyx::simplify(model, options);
  (void)serialize(model, {});
}

// What is read is optimized and written, as `sardonyx optimize` does.
void optimize(Input bytes) { optimize_for(bytes, {}); }

// The same for other opsets and runtimes, and quantized; what one rejects, the others get all the
// same. tests/fuzz/test_findings.py has these as options of the command.
void targets(Input bytes) {
  static const std::vector<OptimizeOptions> all = [] {
    std::vector<OptimizeOptions> made(4);
    made[0].opset = 13;
    made[1].runtime = "onnxruntime-cpu";
    made[2].opset = 23;
    made[2].precision.to = "fp16";
    made[3].runtime = "onnxruntime-genai";
    made[3].precision.to = "int4";
    made[3].functions = true;
    return made;
  }();
  for (const OptimizeOptions& options : all) {
    try {
      optimize_for(bytes, options);
    } catch (const base::Error&) {
      continue;
    }
  }
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
      {"safetensors-header", safetensors_header},
      {"shard-index", shard_index},
      {"gguf-header", gguf_header},
      {"distributed-metadata", distributed_metadata},
      {"distributed-piece", distributed_piece, mutate_archive},
      {"srepr", srepr},
      {"onnx", onnx, mutate_message},
      {"plugin", plugin},
      {"optimize", optimize, mutate_message},
      {"targets", targets, mutate_message},
  };
  return all;
}

}  // namespace sardonyx::fuzz

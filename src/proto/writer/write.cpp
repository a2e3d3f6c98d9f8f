#include "proto/writer/write.h"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/graph/ir.h"
#include "proto/wire/fields.h"
#include "proto/wire/stream.h"
#include "proto/writer/atomic_file.h"
#include "proto/writer/model_encoder.h"
#include "proto/writer/strided_copy.h"
#include "proto/writer/write_plan.h"

namespace sardonyx::proto {
namespace {

namespace fs = std::filesystem;
using ExternalData = WriteOptions::ExternalData;

static_assert(std::endian::native == std::endian::little, "ONNX stores data little-endian");

// The data file's place relative to the model's folder, as external_data's location says it.
fs::path data_file_of(const fs::path& path, const WriteOptions& options) {
  fs::path name = options.data_file;
  if (name.empty()) name = path.filename().concat(".data");
  const auto refuse = [&](std::string_view reason) {
    base::fail("SX1602", fmt::format("the data file '{}' {}", name.string(), reason),
               "name a file in the folder of the model, relative to it");
  };
  if (name.is_absolute()) refuse("is given as an absolute path");
  for (const fs::path& part : name) {
    if (part == "..") refuse("lies outside the folder of the model");
  }
  if (!name.has_filename()) refuse("names a folder");
  if (name.lexically_normal() == path.filename()) refuse("is the model's own file");
  return name.lexically_normal();
}

// A model about to be written: the encoder refers to the plan.
struct Job {
  Job(const onnx::Model& model, const WriteOptions& options)
      : plan(make_plan(model, options)), encoder(std::in_place, model, plan, options) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Plan plan;
  std::optional<ModelEncoder> encoder;
  std::int64_t size = 0;  // of the model's file
};

void refuse_size(std::int64_t size, std::string help) {
  base::fail(
      "SX1603",
      fmt::format("the model takes {} bytes in one file; protobuf ends at {}", size, kMessageLimit),
      std::move(help));
}

// Measures with the weights inside, and where that is too long, or told so, with them outside.
void measure(Job& job, const onnx::Model& model, const fs::path& path,
             const WriteOptions& options) {
  if (options.external_data != ExternalData::kAlways) {
    job.size = job.encoder->measure();
    if (job.size <= kMessageLimit) return;
    if (options.external_data == ExternalData::kNever)
      refuse_size(job.size, "allow a file for the weights (external_data)");
  }
  move_to_data_file(job.plan, options, data_file_of(path, options).generic_string());
  job.encoder.emplace(model, job.plan, options);
  job.size = job.encoder->measure();
  if (job.size > kMessageLimit)
    refuse_size(job.size, "the graph itself is too long, or its weights are below size_threshold");
}

void write_data(const Plan& plan, Stream& stream) {
  for (const Placement& placement : plan.data) {
    stream.append_zeros(placement.offset - stream.position());
    put_data(data_of(*placement.value), stream);
  }
  stream.flush();
}

void write_model(Job& job, Stream& stream) {
  job.encoder->write(stream);
  stream.flush();
  if (stream.position() != job.size)
    base::fail("SX1605",
               fmt::format("the model changed while it was written: {} bytes instead of {}",
                           stream.position(), job.size));
}

// One report for all files.
std::function<void(std::int64_t)> progress_from(const WriteOptions& options, std::int64_t before,
                                                std::int64_t total) {
  if (!options.progress) return {};
  return [&options, before, total](std::int64_t done) { options.progress(before + done, total); };
}

class SinkOutput : public Output {
 public:
  explicit SinkOutput(const Sink& sink) : sink_(sink) {}
  void write(std::span<const std::byte> first, std::span<const std::byte> second) override {
    if (!first.empty()) sink_(first);
    if (!second.empty()) sink_(second);
  }

 private:
  const Sink& sink_;
};

// Measures and hands the size to prepare() before the first byte.
void write_in_one(const onnx::Model& model, const Sink& sink, const WriteOptions& options,
                  const std::function<void(std::int64_t)>& prepare) {
  if (options.external_data == ExternalData::kAlways)
    base::fail("SX1602", "there is no folder for a data file", "save to a path");
  Job job(model, options);
  job.size = job.encoder->measure();
  if (job.size > kMessageLimit) refuse_size(job.size, "save to a path, with external data");
  prepare(job.size);
  SinkOutput output(sink);
  Stream stream(output, progress_from(options, 0, job.size));
  write_model(job, stream);
}

}  // namespace

void write(const onnx::Model& model, const fs::path& path, const WriteOptions& options) {
  Job job(model, options);
  measure(job, model, path, options);
  const std::int64_t total = job.plan.data_size + job.size;

  AtomicFile model_file(path, job.size);
  std::optional<AtomicFile> data_file;
  if (!job.plan.data.empty()) {
    const fs::path data_path = path.parent_path() / job.plan.location;
    if (!model_file.is_regular())
      base::fail("SX1602", fmt::format("'{}' is no regular file and has no folder for a data file",
                                       path.string()));
    data_file.emplace(data_path, job.plan.data_size);
    Stream stream(*data_file, progress_from(options, 0, total));
    write_data(job.plan, stream);
  }
  Stream stream(model_file, progress_from(options, job.plan.data_size, total));
  write_model(job, stream);

  if (data_file) data_file->finish();
  model_file.finish();
  // The model comes last: whoever sees it finds its data.
  if (data_file) data_file->replace();
  model_file.replace();
  if (data_file) data_file->settle();
  model_file.settle();
}

Apart serialize_apart(const onnx::Model& model, WriteOptions options) {
  options.external_data = ExternalData::kAlways;
  Job job(model, options);
  // Python's packages look for data at the main graph's initializers.
  move_to_data_file(job.plan, options, "apart", /*of_bodies=*/false);
  job.encoder.emplace(model, job.plan, options);
  job.size = job.encoder->measure();
  if (job.size > kMessageLimit) refuse_size(job.size, "the graph itself is too long");
  Apart apart;
  apart.message.reserve(static_cast<std::size_t>(job.size));
  const Sink append = [&](std::span<const std::byte> part) {
    apart.message.append(reinterpret_cast<const char*>(part.data()), part.size());
  };
  SinkOutput output(append);
  Stream stream(output, {});
  write_model(job, stream);
  for (const Placement& placement : job.plan.data)
    apart.tensors.emplace(placement.offset, &data_of(*placement.value));
  return apart;
}

std::string bytes_of(const onnx::Tensor& tensor) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(tensor.byte_count()));
  const Sink append = [&](std::span<const std::byte> part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  };
  SinkOutput output(append);
  Stream stream(output, {});
  put_data(tensor, stream);
  stream.flush();
  return bytes;
}

std::string serialize(const onnx::Model& model, const WriteOptions& options) {
  std::string bytes;
  const auto append = [&](std::span<const std::byte> part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  };
  write_in_one(model, append, options,
               [&](std::int64_t size) { bytes.reserve(static_cast<std::size_t>(size)); });
  return bytes;
}

void write_to(const onnx::Model& model, const Sink& sink, const WriteOptions& options) {
  write_in_one(model, sink, options, [](std::int64_t) {});
}

}  // namespace sardonyx::proto

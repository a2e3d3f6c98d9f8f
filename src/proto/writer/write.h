// Writing ONNX models: sizes are measured first, then the model is streamed with its weights
// straight from where they lie, so that memory does not grow with the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>

namespace sardonyx::onnx {
class Model;
struct Tensor;
}  // namespace sardonyx::onnx

namespace sardonyx::proto {

struct WriteOptions {
  enum class ExternalData : std::uint8_t {
    kAuto,    // a data file when the model exceeds protobuf's 2 GB
    kAlways,  // weights always go to the data file
    kNever,   // SX1603 when the model exceeds 2 GB
  };
  ExternalData external_data = ExternalData::kAuto;
  // Relative to the model's folder and inside it; "<file name of the model>.data" when empty.
  std::filesystem::path data_file;
  // Of tensors of a MiB and more in the data file, in bytes, a power of two: 64 KiB is what Windows
  // maps at. Smaller ones are aligned to a page of 4 KiB at most.
  std::int64_t alignment = std::int64_t{64} << 10;
  // Tensors smaller than this (in bytes) stay inside the model's file.
  std::int64_t size_threshold = 1024;

  // false leaves out the weights (not the constants that conversion made); whoever reads the model
  // supplies them by name.
  bool include_initializers = true;
  // Lists weights among the graph's inputs as well, where they can be overridden.
  bool keep_initializers_as_inputs = false;
  // Where nodes came from, in the form that torch.onnx gives it (metadata_props).
  bool include_metadata = true;
  // Leaves folders of the machine out of it: the user's files are given by their names, as files of
  // installed packages always are by their path in the package.
  bool strip_paths = false;
  // Further metadata_props of the model; these replace its own of the same key.
  std::map<std::string, std::string> metadata;
  // Types and shapes of intermediate values.
  bool include_value_info = true;

  // Files that tensors stay in: those whose bytes lie there are not written, and the model refers
  // to them where they are. By the path that a file was mapped under, and where it is from the
  // model's folder.
  std::map<std::string, std::string> in_place;

  // Called after each write with the bytes written and the bytes in all; may throw to give up.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

// Takes what is written, in order. The bytes are borrowed for the call.
using Sink = std::function<void(std::span<const std::byte>)>;

// Writes the model and, where it has one, its data file. Both appear whole or not at all: whatever
// goes wrong, the files that were there before are untouched. A symbolic link is followed; a device
// or a pipe is written to as it is.
// Throws SX1601 (destination and system's reason), SX1602 (data file outside the model's folder),
// SX1603 (over 2 GB in one file), SX1604 (weights without data), SX1605 (not expressible in ONNX).
void write(const onnx::Model& model, const std::filesystem::path& path,
           const WriteOptions& options = {});

// The model, weights inside, as the bytes that write() puts into the model's file. Throws as
// write() does; kAlways is refused (SX1602), there being no folder for a data file.
std::string serialize(const onnx::Model& model, const WriteOptions& options = {});
void write_to(const onnx::Model& model, const Sink& sink, const WriteOptions& options = {});

// A model in memory whose tensors of size_threshold bytes and more lie apart from it, so that there
// is none too large for it, and none need be copied twice.
struct Apart {
  std::string message;                                  // as external data in the file "apart",
  std::map<std::int64_t, const onnx::Tensor*> tensors;  // by the offsets there; the model's own
};
Apart serialize_apart(const onnx::Model& model, WriteOptions options = {});
// A tensor's elements, row by row.
std::string bytes_of(const onnx::Tensor& tensor);

}  // namespace sardonyx::proto

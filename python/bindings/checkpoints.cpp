// Readers of checkpoints, and what is computed of their tensors.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "base/writable_mapping.h"
#include "bindings.h"
#include "frontends/checkpoints/distributed.h"
#include "frontends/checkpoints/gguf.h"
#include "frontends/checkpoints/safetensors.h"
#include "frontends/checkpoints/scratch_file.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Calls without the GIL.
template <typename Run>
auto released(const Run& run) {
  const nb::gil_scoped_release without;
  return run();
}

std::string name_of(base::DType dtype) { return std::string(base::dtype_name(dtype)); }

// (name, path, dtype, dims, offset, length) of each tensor.
nb::list entries_of(const std::vector<checkpoints::SafetensorsFile>& files) {
  nb::list entries;
  for (const checkpoints::SafetensorsFile& file : files)
    for (const checkpoints::TensorInFile& tensor : file.contents.tensors)
      entries.append(nb::make_tuple(tensor.name, file.path, name_of(tensor.dtype), tensor.dims,
                                    tensor.extent.offset, tensor.extent.length));
  return entries;
}

nb::list safetensors_entries(const std::vector<std::string>& paths) {
  return entries_of(released([&] { return checkpoints::read_safetensors(paths); }));
}

nb::list sharded_entries(const std::string& index) {
  return entries_of(released([&] { return checkpoints::read_sharded_safetensors(index); }));
}

std::vector<std::pair<std::string, std::string>> safetensors_metadata(
    const std::vector<std::string>& paths) {
  return released([&] {
    std::vector<std::pair<std::string, std::string>> metadata;
    for (const checkpoints::SafetensorsFile& file : checkpoints::read_safetensors(paths))
      metadata.insert(metadata.end(), file.contents.metadata.begin(), file.contents.metadata.end());
    return metadata;
  });
}

std::vector<std::string> shards_of_index(const std::string& index) {
  return released([&] { return checkpoints::read_shard_index(index).shards; });
}

nb::tuple gguf_file(const std::string& path) {
  const checkpoints::Gguf file = released([&] { return checkpoints::read_gguf(path); });
  nb::list tensors;
  for (const checkpoints::GgufTensor& tensor : file.tensors)
    tensors.append(
        nb::make_tuple(tensor.name, tensor.block.empty() ? name_of(tensor.dtype) : std::string(),
                       tensor.block, tensor.dims, tensor.extent.offset, tensor.extent.length));
  return nb::make_tuple(file.architecture, tensors);
}

// Bytes of a file as an array of NumPy that may be written to; the file stays as it is.
nb::object file_array(const std::string& path, std::uint64_t offset, std::uint64_t length) {
  auto mapping = std::make_unique<base::WritableMapping>(path);
  const std::span<std::byte> bytes = mapping->bytes();
  checkpoints::check_inside(path, bytes.size(), {{{offset, length}}});
  const nb::capsule owner(mapping.release(), [](void* pointer) noexcept {
    delete static_cast<base::WritableMapping*>(pointer);
  });
  const auto size = static_cast<std::size_t>(length);
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(bytes.data() + offset, 1, &size, owner));
}

using Distributed = checkpoints::DistributedTensor;

std::vector<std::string> files_of(const Distributed& tensor) {
  std::vector<std::string> files;
  for (const checkpoints::Piece& piece : tensor.pieces) files.push_back(piece.file);
  return files;
}

// (offset, length) in its file of a tensor in one piece that lies there row by row; None for
// others.
nb::object whole_extent(const std::string& folder, const Distributed& tensor) {
  if (tensor.pieces.size() != 1) return nb::none();
  const auto places = released([&] { return checkpoints::locate_pieces(folder, tensor); });
  const checkpoints::StridedPlace& place = places.front();
  std::int64_t stride = 1;
  for (std::size_t i = place.dims.size(); i-- > 0; stride *= place.dims[i])
    if (place.dims[i] != 1 && place.strides[i] != stride && place.extent.length != 0)
      return nb::none();
  return nb::make_tuple(place.extent.offset, place.extent.length);
}

}  // namespace

void bind_checkpoints(nb::module_& module) {
  module.def("safetensors_entries", &safetensors_entries, "paths"_a,
             "The tensors of safetensors files: (name, path, dtype, dims, offset, length) each.");
  module.def("sharded_entries", &sharded_entries, "index"_a,
             "The same of the shards that an index lists.");
  module.def("safetensors_metadata", &safetensors_metadata, "paths"_a,
             "The metadata of safetensors files: (key, text) each.");
  module.def("shards_of_index", &shards_of_index, "index"_a, "The files that an index lists.");
  module.def("gguf_file", &gguf_file, "path"_a,
             "The architecture of a GGUF file, and its tensors: (name, dtype, block, dims, offset, "
             "length) each, where either the dtype or the type of the blocks is empty.");
  module.def(
      "file_array", &file_array, "path"_a, "offset"_a, "length"_a,
      "Bytes of a file, mapped, as an array that may be written to; the file stays as it is.");
  nb::class_<base::CutShortGuard>(module, "CutShortGuard",
                                  "While one lives, what is missing of mapped files that were cut "
                                  "short reads as zeros.")
      .def(nb::init<>())
      .def(
          "check", [](const base::CutShortGuard&) { base::check_not_cut_short(); },
          "Raises SX1101 where one was.");
  nb::class_<Distributed>(module, "DistributedTensor",
                          "A tensor of a checkpoint of torch.distributed.")
      .def_ro("name", &Distributed::name)
      .def_ro("dims", &Distributed::dims)
      .def_prop_ro("dtype", [](const Distributed& tensor) { return name_of(tensor.dtype); })
      .def_prop_ro("files", &files_of);
  module.def(
      "distributed_tensors",
      [](const std::string& folder) {
        return released([&] { return checkpoints::read_distributed(folder); });
      },
      "folder"_a, "The tensors of a checkpoint of torch.distributed.");
  module.def("whole_extent", &whole_extent, "folder"_a, "tensor"_a,
             "(offset, length) in its file of a tensor that lies there row by row; None for "
             "others.");
  module.def(
      "write_joined",
      [](const std::string& folder, const Distributed& tensor, const std::string& out) {
        return released([&] { return checkpoints::write_joined(folder, tensor, out); });
      },
      "folder"_a, "tensor"_a, "out"_a,
      "Writes a tensor, put together of its pieces, to a new file; its bytes.");
}

}  // namespace sardonyx::bindings

// Readers of checkpoints, and what is computed of their tensors.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "bindings.h"
#include "borrowed.h"
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

std::int64_t write_blocks(const std::string& block, const std::string& path, std::uint64_t offset,
                          std::uint64_t length, const std::string& out) {
  const kernels::GgmlBlock* const known = kernels::ggml_block(std::string_view(block));
  if (known == nullptr) throw nb::value_error(("unknown blocks: " + block).c_str());
  return released([&] {
    const base::MappedFile file(path);
    checkpoints::check_inside(path, file.bytes().size(), {{{offset, length}}});
    return checkpoints::write_dequantized(
        *known,
        file.bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length)),
        out);
  });
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

// A contiguous tensor of a few numbers, held.
template <typename T>
std::pair<std::vector<std::int64_t>, std::span<const T>> numbers_of(const NamedTensors& held,
                                                                    const std::string& name,
                                                                    base::DType dtype) {
  for (const auto& [own, tensor] : held) {
    if (own != name) continue;
    if (tensor.dtype != dtype || !tensor.data) break;
    return {tensor.dims, std::span(reinterpret_cast<const T*>(tensor.data),
                                   static_cast<std::size_t>(tensor.element_count()))};
  }
  throw nb::value_error((name + " are no numbers of the type that they should be").c_str());
}

// The arguments of one call, and what they borrow.
class Dequantization {
 public:
  Dequantization(const nb::list& codes, const nb::dict& form, const nb::dict& tensors)
      : codes_(borrow_from_files(codes)), held_(borrow_tensors(tensors)) {
    take_codes(form);
    take_scales(form, tensors);
    if (!kernels::is_valid(matrix_)) throw nb::value_error("codes of no such form");
    if (!kernels::is_valid(scales_, matrix_))
      throw nb::value_error("the scales are not those of the weight");
    form_.matrices = nb::cast<std::int64_t>(form["matrices"]);
    form_.transposed = nb::cast<bool>(form["transposed"]);
    const std::int64_t each = matrix_.packs_rows ? matrix_.codes_in_word() : 1;
    const bool divides = form_.matrices > 0 && matrix_.rows % (form_.matrices * each) == 0 &&
                         scales_.row_groups % form_.matrices == 0;
    if (!divides || (form_.matrices > 1 && !scales_.rows.index.empty()))
      throw nb::value_error("the codes are not those of several matrices");
  }

  std::int64_t write(const std::string& out) const {
    return released([&] { return checkpoints::write_dequantized(matrix_, scales_, form_, out); });
  }

 private:
  void take_codes(const nb::dict& form) {
    const onnx::Tensor& words = codes_.at(0).second;
    if (words.dims.size() != 2 || base::bit_width(words.dtype) < 8)
      throw nb::value_error("codes are no matrix of bytes or integers");
    matrix_.words = words.data;
    matrix_.dtype = words.dtype;
    matrix_.word_bytes = base::bit_width(words.dtype) / 8;
    matrix_.bits = nb::cast<int>(form["bits"]);
    matrix_.packs_rows = nb::cast<bool>(form["packs_rows"]);
    const auto order = nb::cast<std::vector<std::uint8_t>>(form["order"]);
    if (order.size() > matrix_.order.size()) throw nb::value_error("codes of no such form");
    std::ranges::copy(order, matrix_.order.begin());
    if (matrix_.bits < 1) throw nb::value_error("codes of no such form");
    const std::int64_t each = matrix_.codes_in_word();
    matrix_.rows = words.dims[0] * (matrix_.packs_rows ? each : 1);
    matrix_.columns = words.dims[1] * (matrix_.packs_rows ? 1 : each);
    const auto columns = nb::cast<std::int64_t>(form["width"]);
    if (columns == 0) return;
    if (columns > matrix_.columns || matrix_.columns - columns >= each)
      throw nb::value_error("the codes are not those of the weight");
    matrix_.columns = columns;
  }

  void take_scales(const nb::dict& form, const nb::dict& tensors) {
    const auto [dims, scales] = numbers_of<float>(held_, "scales", base::DType::kFloat32);
    if (dims.size() != 2) throw nb::value_error("scales are no matrix");
    scales_.scales = scales.data();
    scales_.row_groups = dims[0];
    scales_.column_groups = dims[1];
    const auto same = [&](const char* name) -> const float* {
      if (!tensors.contains(name)) return nullptr;
      const auto [own, values] = numbers_of<float>(held_, name, base::DType::kFloat32);
      if (own != dims) throw nb::value_error("zero points are not those of the scales");
      return values.data();
    };
    scales_.zeros = same("zeros");
    scales_.offsets = same("offsets");
    const auto grouping = [&](const char* name, kernels::Grouping& result) {
      if (tensors.contains(name))
        result.index = numbers_of<std::int32_t>(held_, name, base::DType::kInt32).second;
      else
        result.size = nb::cast<std::int64_t>(form[name]);
    };
    grouping("rows", scales_.rows);
    grouping("columns", scales_.columns);
    if (tensors.contains("table"))
      matrix_.table = numbers_of<float>(held_, "table", base::DType::kFloat32).second;
  }

  NamedTensors codes_, held_;
  kernels::CodeMatrix matrix_;
  kernels::GroupScales scales_;
  checkpoints::Transposition form_;
};

std::int64_t write_dequantized(const nb::list& codes, const nb::dict& form, const nb::dict& tensors,
                               const std::string& out) {
  return Dequantization(codes, form, tensors).write(out);
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
  module.def("write_blocks", &write_blocks, "block"_a, "path"_a, "offset"_a, "length"_a, "out"_a,
             "Writes the values of ggml's blocks to a new file as float32; its bytes.");
  module.def("write_dequantized", &write_dequantized, "codes"_a, "form"_a, "tensors"_a, "out"_a,
             "Writes the values of a matrix of codes to a new file as float32; its bytes.");
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

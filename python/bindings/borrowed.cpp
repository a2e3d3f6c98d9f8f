#include "borrowed.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "dequantized.h"
#include "frontends/live/tensors.h"

namespace sardonyx::bindings {
namespace nb = nanobind;

namespace {

// The tensor's bytes, borrowed. Complex numbers are pairs of reals, as everywhere in a model.
onnx::Tensor borrow(const live::LiveTensor& live) {
  onnx::Tensor tensor;
  tensor.dtype = base::real_of(live.dtype);
  tensor.dims = live.shape;
  tensor.strides = live.strides;
  if (base::is_complex(live.dtype)) {
    for (std::int64_t& stride : tensor.strides) stride *= 2;
    tensor.dims.push_back(2);
    tensor.strides.push_back(1);
  }
  if (const std::byte* data = live.storage_data()) {
    tensor.data = data + base::byte_size(live.dtype, live.offset);
  }
  tensor.missing = !tensor.data && tensor.element_count() != 0;
  tensor.owner = live.owner();
  return tensor;
}

}  // namespace

InFile in_file(nb::handle entry) {
  const nb::tuple fields = nb::cast<nb::tuple>(entry);
  InFile place;
  place.name = nb::cast<std::string>(fields[0]);
  place.path = nb::cast<std::string>(fields[1]);
  place.dtype = nb::cast<std::string>(fields[2]);
  place.dims = nb::cast<std::vector<std::int64_t>>(fields[3]);
  place.offset = nb::cast<std::int64_t>(fields[4]);
  place.length = nb::cast<std::int64_t>(fields[5]);
  return place;
}

std::shared_ptr<const base::MappedFile> Files::get(const std::string& path) {
  std::shared_ptr<const base::MappedFile>& file = files_[path];
  if (!file) file = std::make_shared<const base::MappedFile>(path);
  return file;
}

onnx::Tensor borrow(const InFile& place, Files& files) {
  const std::shared_ptr<const base::MappedFile> file = files.get(place.path);
  onnx::Tensor tensor;
  tensor.dtype = base::dtype_from_name(place.dtype).value_or(base::DType::kUndefined);
  tensor.dims = place.dims;
  const auto size = static_cast<std::int64_t>(file->bytes().size());
  if (place.offset < 0 || place.length < 0 || place.offset > size ||
      place.length > size - place.offset || place.length != tensor.byte_count()) {
    base::fail("SX1108", "'" + place.name + "' does not fit its place in " + place.path);
  }
  tensor.data = place.length == 0 ? nullptr : file->bytes().data() + place.offset;
  tensor.owner = file;
  return tensor;
}

NamedTensors borrow_tensors(const nb::dict& tensors) {
  NamedTensors result;
  for (const auto& [key, value] : tensors) {
    const std::string name = nb::str(key).c_str();
    result.emplace_back(name, borrow(live::look_at(name, value)));
  }
  return result;
}

NamedTensors borrow_from_files(const nb::list& entries) {
  NamedTensors tensors;
  Files files;
  for (const nb::handle entry : entries) {
    const InFile place = in_file(entry);
    const nb::tuple fields = nb::cast<nb::tuple>(entry);
    const bool is_made = fields.size() > 6 && !fields[6].is_none();
    tensors.emplace_back(place.name, is_made ? nb::cast<const Dequantized&>(fields[6]).tensor(files)
                                             : borrow(place, files));
  }
  return tensors;
}

}  // namespace sardonyx::bindings

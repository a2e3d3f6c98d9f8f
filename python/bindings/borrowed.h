// Tensors of PyTorch, and of files, as tensors of a model: no byte is copied.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "onnx/graph/tensor.h"

namespace sardonyx::bindings {

using NamedTensors = std::vector<std::pair<std::string, onnx::Tensor>>;

// A tensor that lies in a file as it is, row by row.
struct InFile {
  std::string name, path, dtype;
  std::vector<std::int64_t> dims;
  std::int64_t offset = 0, length = 0;
};
// Of (name, path, dtype, dims, offset, length), whatever follows.
InFile in_file(nanobind::handle entry);

// Files that are mapped once each.
class Files {
 public:
  std::shared_ptr<const base::MappedFile> get(const std::string& path);

 private:
  std::map<std::string, std::shared_ptr<const base::MappedFile>> files_;
};
// Throws SX1108 where the tensor does not fit its place.
onnx::Tensor borrow(const InFile& place, Files& files);

// A dict of torch tensors by name.
NamedTensors borrow_tensors(const nanobind::dict& tensors);
// Entries are (name, path, dtype, dims, offset, length), or these and what makes the elements: a
// Dequantized, or None. Throws SX1108 where one does not fit.
NamedTensors borrow_from_files(const nanobind::list& entries);

}  // namespace sardonyx::bindings

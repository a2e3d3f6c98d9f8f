// Tensors of PyTorch, and of files, as tensors of a model: no byte is copied.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "onnx/graph/tensor.h"

namespace sardonyx::bindings {

using NamedTensors = std::vector<std::pair<std::string, onnx::Tensor>>;

// A dict of torch tensors by name.
NamedTensors borrow_tensors(const nanobind::dict& tensors);
// Entries are (name, path, dtype, dims, offset, length). Throws SX1108 where one does not fit.
NamedTensors borrow_from_files(const nanobind::list& entries);

}  // namespace sardonyx::bindings

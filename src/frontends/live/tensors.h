// A live torch.Tensor, looked at without copying it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace sardonyx::live {

struct LiveTensor {
  base::DType dtype = base::DType::kUndefined;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements
  std::int64_t offset = 0;            // in elements, into the storage
  bool has_data = false;              // false for fake and meta tensors
  nanobind::object storage;           // the torch.UntypedStorage

  std::size_t storage_address() const;  // what tells storages apart
  std::int64_t storage_bytes() const;
  const std::byte* storage_data() const;  // null without data
  // Keeps the storage alive; may be dropped on any thread, with or without the GIL.
  std::shared_ptr<const void> owner() const;
};

// What has no plain bytes on the host is converted first: tensors on other devices and sparse ones
// are copied, conjugate and negative views resolved. Tensor subclasses without bytes of their own
// and quantized tensors are refused (SX1222), so are types that ONNX has nothing for (SX1221).
// `name` is for the message.
LiveTensor look_at(std::string_view name, nanobind::handle tensor);

// Of a torch.dtype; SX1221 for one that ONNX has nothing for.
base::DType dtype_of(nanobind::handle dtype);

}  // namespace sardonyx::live

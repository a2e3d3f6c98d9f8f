// TensorProto to onnx::Tensor.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "onnx/graph/tensor.h"
#include "proto/reader/external_data.h"

namespace sardonyx::proto {

// What tensors borrow their data from.
struct DataSource {
  std::shared_ptr<const void> owner;  // of the message's own bytes
  ExternalData external;
};

struct NamedTensor {
  std::string name;
  onnx::Tensor tensor;
  std::string further;  // fields that a tensor has no place for, as they stand
};

// Throws SX1151, SX1153, SX1154 or SX1155, with the tensor's name as context.
NamedTensor read_tensor(std::string_view message, DataSource& source);

// An element type as files number it. Throws SX1153 for one that is not known.
base::DType dtype_of(std::int64_t number);

}  // namespace sardonyx::proto

// AttributeProto, all but the graphs in it.
#pragma once

#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"
#include "proto/reader/tensor_reader.h"
#include "proto/wire/fields.h"

namespace sardonyx::proto {

struct ReadAttribute {
  onnx::Attribute attribute;  // without data when the type is a kind of graph
  AttributeType type = AttributeType::kUndefined;
  std::vector<std::string_view> graphs;
};

// Throws SX1153 for kinds that the IR has no place for: sparse tensors, types, lists of tensors.
ReadAttribute read_attribute(std::string_view message, DataSource& source);

}  // namespace sardonyx::proto

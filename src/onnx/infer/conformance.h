// Whether a model conforms to the schemas of its opset, which is checked before it is written.
#pragma once

#include <string>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

enum class Depth : std::uint8_t {
  kSchemas,  // operators, inputs, outputs, attributes and element types
  kTypes,    // these, and that each node gives the type, rank and sizes that its outputs have
};

// What nodes of ONNX's own operators violate, at most a few of it. Operators of other domains,
// nodes that were set aside as malformed and values whose declared type is disputed are not looked
// at. The model comes out as it was.
std::vector<std::string> violations(Model& model, Depth depth);

}  // namespace sardonyx::onnx

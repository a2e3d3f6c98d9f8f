// How the weights of a model were made of the program's, as JSON that is written into the model: so
// that the weights of the file can be replaced without the program.
//
//   {"version": 2, "structure": "<hash>",
//    "weights": {"fc.weight": "float32[8,4]"},        the program's weights that are wanted
//    "tied": {"head.weight": "embed.weight"},         further names of these
//    "program": {"rope_theta": "10000.0"},            settings of the program
//    "parts": [<formula>, ...],                       each refers to earlier ones alone
//    "made": {"fc.weight_folded": <recipe>},          initializers that are no weight as it is
//    "fixed": {"bias_folded": ["bias"]}}              what cannot be made anew, and of what it is
//
// A recipe is the name of a weight, or one of
//   {"literal": "int64[2]", "runs": [[count, "<bytes of an element in hex>"], ...]}
//   {"of": <recipe>, "permute": [1, 0]}        {"of": <recipe>, "shape": [1, 8]}
//   {"of": <recipe>, "cast": "float16", "add": 0}
//   {"of": <recipe>, "scale": <recipe>, "inner": 1, "period": 8, "rows": 1}   ChannelScale
//   {"of": <recipe>, "same": <recipe>}         stands for another one with the same elements
//   {"of": <recipe>, "blocks": {...}}          a part of a QuantizedWeight
//   {"join": [<recipe>, ...], "axis": 0}
//   {"op": "Mul", "inputs": [<recipe> or null, ...], "attributes": {...}, "outputs": 1, "output":
//   0}
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::refresh {

// Of ModelProto.metadata_props.
inline constexpr std::string_view kKey = "sardonyx.weights";
inline constexpr std::int64_t kVersion = 2;

// What the program says of its weights.
struct Origins {
  std::map<std::string, std::string> tied;  // other names, and the one that the model has
  std::set<std::string> local;              // those that no state dict has
  // Settings that tell the program from another with the same weights, for whoever compares them.
  std::map<std::string, std::string> program;
};

// Takes the record out of a model whose weights cannot be replaced any more.
void erase_record(onnx::Model& model);

// Empty where no weight of the program is left.
std::string record(const onnx::Model& model, const Origins& origins);

// A hash of operators, attributes and names, with bodies and model-local functions: what other
// tools change.
std::string structure_of(const onnx::Model& model);

// The elements of a tensor in row-major order, whatever its recipe.
std::vector<std::byte> bytes_of(const onnx::Tensor& tensor);
// Whether those of two tensors are the same.
bool same_bytes(const onnx::Tensor& a, const onnx::Tensor& b);

// "float32[8,4]"
std::string type_text(base::DType dtype, const std::vector<std::int64_t>& dims);

}  // namespace sardonyx::refresh

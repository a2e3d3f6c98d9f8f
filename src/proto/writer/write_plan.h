// What of a model's data is written, and where: decided before the first byte goes out.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/graph/ir.h"
#include "proto/writer/write.h"

namespace sardonyx::proto {

// An initializer and the place of its data.
struct Placement {
  const onnx::ValueInfo* value = nullptr;
  bool external = false;
  std::int64_t offset = 0;  // in the data file
  std::int64_t length = 0;
  // The file that it stays in, relative to the model's folder; empty for the data file.
  std::string location = {};
};

// An initializer of a body.
struct Inner {
  Placement placement;
  std::string name;  // in the body, where the graphs around it have the constant's own
};

struct Plan {
  std::vector<Placement> initializers;  // of the main graph
  // What quantizers in a body of an If, Loop or Scan read: ONNX Runtime fuses them with the
  // products beside them, and looks for their constants in the same graph alone.
  std::vector<std::vector<Inner>> inner;
  std::unordered_map<const onnx::Graph*, std::size_t> inner_of;  // the place in `inner`
  // Weights that are listed among the main graph's inputs too.
  std::vector<const onnx::ValueInfo*> weight_inputs;
  // Functions see nothing of the main graph: the constants that each body reads become nodes of it.
  std::unordered_map<const onnx::Graph*, std::vector<const onnx::ValueInfo*>> function_constants;
  // External data, in the order of offsets; no two share bytes.
  std::vector<Placement> data;
  std::int64_t data_size = 0;
  std::string location;  // of the data file, relative to the model's folder
};

// Throws SX1604 for weights without data, SX1605 for constants that ONNX has no type for.
Plan make_plan(const onnx::Model& model, const WriteOptions& options);

// Moves what is at least options.size_threshold long to the data file at `location`; of what bodies
// hold, only where it is asked for.
void move_to_data_file(Plan& plan, const WriteOptions& options, std::string location,
                       bool of_bodies = true);

// What a placement writes: a constant, or what an input is where callers give nothing.
const onnx::Tensor& data_of(const onnx::ValueInfo& value);

// Whether the data of a tensor that has elements is absent.
bool lacks_data(const onnx::Tensor& tensor);

}  // namespace sardonyx::proto

// What became of a model's weights and nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "precision/quantized_weight.h"

namespace sardonyx::precision {

// A weight that is held in another type.
struct HeldWeight {
  std::string weight;
  std::string reader;  // the node, where the weight is held in a way of its own for it
  std::string type;    // "float16", "int4", ...
  std::int64_t bytes_before = 0, bytes_after = 0;
  kernels::CodingError measured;
  // The model's weights that it was made of, in the order in which they are joined in it.
  std::vector<std::string> made_of;
  bool is_table = false;  // rows of it are looked up, and not multiplied by
  // Of a weight in blocks: the error is measured as the codes are written, or when asked for.
  std::shared_ptr<const QuantizedWeight> coded;

  kernels::CodingError error() const { return coded != nullptr ? coded->error() : measured; }
};

// What stays as it was, and why; or is held to limits.
struct Stayed {
  std::string what;  // a weight, or a node
  std::string reason;
};

struct Report {
  std::vector<HeldWeight> weights;
  std::vector<Stayed> stayed;
};

}  // namespace sardonyx::precision

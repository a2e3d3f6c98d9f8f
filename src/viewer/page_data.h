// What the viewer's script reads of a model, as JSON. page/data.js is the other side of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/graph/ir.h"
#include "viewer/alignment.h"
#include "viewer/groups.h"
#include "viewer/measures.h"

namespace sardonyx::viewer {

// Texts that occur more than once are written once.
class Texts {
 public:
  std::int32_t index(std::string_view text);
  std::string json() const;

 private:
  std::unordered_map<std::string, std::int32_t> index_;
  std::vector<std::string> texts_;  // as JSON
};

// An object: title, facts, groups with the layers of their drawing, nodes, values, statistics of
// weights. Texts are indices into `texts`.
std::string model_json(const onnx::Model& model, const Groups& groups, std::string_view title,
                       Texts& texts);
// A list with an object for each measure: title, unit, a number or null for each node, the same of
// the other model, if there is one, and texts by the index of a node.
std::string measures_json(const Groups& groups, const Groups* others,
                          std::span<const Measure> measures);
std::string alignment_json(const Alignment& alignment);

}  // namespace sardonyx::viewer

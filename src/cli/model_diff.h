// In what two models differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::cli {

// Something that both have under one name, and what each says of it; empty where one has it not.
struct Difference {
  std::string name;
  std::string a, b;
};

struct ModelDiff {
  std::vector<Difference> opsets;
  std::vector<Difference> operators;  // with how many nodes
  std::vector<Difference> inputs, outputs;
  std::vector<Difference> weights;     // by type; "other data" where only these differ
  std::vector<Difference> attributes;  // of the main graph's nodes of one name: "conv_1.pads"
  std::int64_t nodes_a = 0, nodes_b = 0;
  std::int64_t same_name = 0;  // nodes of the main graph that both have

  bool empty() const;
};

ModelDiff diff(const onnx::Model& a, const onnx::Model& b);
std::string diff_text(const ModelDiff& diff);
// As members of a JSON object.
std::string diff_json(const ModelDiff& diff);

}  // namespace sardonyx::cli

// Calls of model-local functions, emitted as what the functions do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

class Inlining {
 public:
  explicit Inlining(const Model& model);

  // The function that the node calls; null where it calls none of the model's.
  const Function* called(const Node* node) const;
  // What the call gives: the function's nodes, each in the form of the function's opset, calls in
  // them likewise. Branches of constant conditions are followed. Throws SX1151 for functions that
  // call themselves, or have too many nodes to be written out, and what emitting a node throws.
  Values emitted(Emit& onnx, const Node* call, std::span<const Value> inputs);

 private:
  class Body;

  std::map<std::tuple<std::string, std::string, std::string>, const Function*> functions_;
  std::size_t depth_ = 0, nodes_ = 0;
};

// Whether some function has a node that means something else, or nothing, in a model of this opset:
// the standard lets functions be of another opset only where it has the same operators.
bool has_functions_of_other_operators(const Model& model, std::int64_t opset);

}  // namespace sardonyx::onnx

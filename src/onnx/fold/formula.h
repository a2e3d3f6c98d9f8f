// How data was computed of weights, recorded so that it can be computed anew of other weights: the
// steps are ONNX operators, evaluated by fold().
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::onnx {

// A node of constants, and which of its results it is. An operand without an origin (has_origin())
// is a constant of the code; of the others only type and recipe count, they have no data.
struct Formula {
  std::string op_type;
  std::vector<Attribute> attributes;
  std::vector<std::optional<Tensor>> operands;  // nothing for an omitted one
  std::size_t outputs = 1, output = 0;
};

// A value's data with its origin recorded; a constant of the code as it is. Where it was made of
// weights in a way that is not recorded, its name is empty: see is_unknown().
Tensor recorded(const ValueInfo& value);
// The same of a tensor over the data of the value, or of a weight that it was made of.
Tensor recorded(const ValueInfo& value, const Tensor& tensor);
// What was made of weights, and nobody can say how.
Tensor of_unknown_origin(const Tensor& tensor);
bool is_unknown(const Tensor& tensor);

// The results of a node, each with its formula. As fold() of weights.
std::vector<Tensor> fold_recorded(const Node& node);

// The result of an operator on tensors with data, by fold(), and its formula with it where one of
// them has an origin. Throws SX1501 where it cannot be computed.
Tensor computed(std::string op_type, std::vector<Tensor> operands,
                std::vector<Attribute> attributes = {});
// The same of a formula, whose operands are given with their data.
Tensor computed(const Formula& formula, const std::vector<std::optional<Tensor>>& operands);

// Without its data, where the origin says how to get it.
Tensor without_data(Tensor recorded);

}  // namespace sardonyx::onnx

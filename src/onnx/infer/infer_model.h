// Types of a whole model that others have made.
#pragma once

#include <string>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Where what a file declares and what an operator gives are not the same.
struct TypeConflict {
  std::string node;
  std::string message;
  bool is_rejected = false;  // the operator does not accept its inputs, in a node that always runs
};

// Infers the types of every value, in bodies and functions too, until nothing more is to be found.
// - What a file declares of an intermediate value holds where the operator gives nothing. Where the
//   two contradict each other the operator's counts, and the value is disputed; many such values
//   mean that the file's declarations are of another model, and none counts then.
// - Graph outputs keep what is declared of them: it is the model's interface.
// - A function has the types that all its calls have in common.
// A node that its operator does not accept is a dispute, and no error; one that lacks what its
// operator needs is of an unknown operator from then on.
std::vector<TypeConflict> infer_types(Model& model);

}  // namespace sardonyx::onnx

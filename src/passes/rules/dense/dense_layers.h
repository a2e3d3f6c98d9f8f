// Products with a weight to which a bias is added.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// The only reader of what the node makes, in its graph and of ONNX's own; null where there are
// others.
onnx::Node* only_reader(const onnx::Node* node);

// x @ weight + bias, and what else is added, which may be nothing.
struct Dense {
  onnx::Node *product = nullptr, *sum = nullptr;
  onnx::ValueInfo *weight = nullptr, *bias = nullptr, *added = nullptr;
};

// That of which the node is the MatMul; without `sum` where it has another form.
Dense dense_of(onnx::Node* product);

}  // namespace sardonyx::passes

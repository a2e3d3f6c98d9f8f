// A model as a page of its own: its modules as a tree, and a drawing of each one's graph.
#pragma once

#include <string>

#include "onnx/graph/ir.h"

namespace sardonyx::cli {

// HTML that needs nothing else: no network, no files next to it. Of the weights it has names, types
// and sizes.
std::string model_page(const onnx::Model& model, const std::string& title);

}  // namespace sardonyx::cli

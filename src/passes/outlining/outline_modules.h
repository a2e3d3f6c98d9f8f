// Modules of the program as model-local functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// Whether modules of a class ("torch.nn.modules.linear.Linear") become functions.
using ChooseClass = std::function<bool(std::string_view)>;

// Before: t = MatMul(x, fc.weight); y = Add(t, fc.bias), both of the module "fc"
// After:  y = torch.nn.modules.linear::Linear(x, fc.weight, fc.bias), a function of two nodes
//
// One function for each class and structure: modules that differ in their weights and sizes alone
// share it, others of the class are Linear.1, Linear.2 and so on. The function's domain is the
// Python module of the class, and the node bears the name of the module's place in the program.
// Weights are inputs; constants of the code are inside. Modules inside of modules become functions
// that are called by functions. The main graph's interface, and what is computed, stay the same.
//
// Returns the names of the functions made, callees first. Throws SX1802 below opset 15, which
// brought model-local functions.
std::vector<std::string> outline_modules(onnx::Model& model, const ChooseClass& choose);

}  // namespace sardonyx::passes

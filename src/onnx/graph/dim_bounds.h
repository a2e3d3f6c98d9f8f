// Bounds of dynamic dimensions, which files keep as metadata: `sardonyx.dim.batch` says
// `3 <= batch <= 64`.
#pragma once

#include <string>

#include "onnx/graph/ir.h"
#include "symbolic/expr.h"

namespace sardonyx::onnx {

// "3 <= batch <= 64"; empty when nothing bounds the size. PyTorch presumes every dynamic dimension
// of an input to be 2 or more and checks nothing of it, so that much is not written.
std::string bounds_text(symbolic::Expr symbol);

// In place of what the model's metadata have of the dimension.
void write_bounds(Model& model, symbolic::Expr symbol);
void erase_bounds(Model& model, symbolic::Expr symbol);

// What the metadata have of the dimension bounds the symbol, too. SX1019 where that is no range.
void read_bounds(Model& model, symbolic::Expr symbol);

}  // namespace sardonyx::onnx

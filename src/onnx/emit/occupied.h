// Sizes that no image is empty along.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Whether the size is one of an image that a convolution or a pool made, or their product: both
// refuse images that are smaller than their window, so that these hold elements wherever the
// program runs. Looks from what makes `x` backwards, over so many nodes and no more.
bool is_of_windows(const ValueInfo* x, symbolic::Expr size);

}  // namespace sardonyx::onnx

// The names of the graph IR that the files of this folder have in common.
#pragma once

#include "base/dtype.h"
#include "onnx/gen/op.h"
#include "onnx/graph/ir.h"

namespace sardonyx::quantization {

using base::DType;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

}  // namespace sardonyx::quantization

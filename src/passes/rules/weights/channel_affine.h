// Working y = x * factor + offset, by channel, into the weight and bias of what made x.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx/graph/ir.h"
#include "rewriting/patch.h"
#include "rewriting/rule_context.h"

namespace sardonyx::passes {

using namespace rewriting;

// An entry a channel, of float64; with how it was computed of weights (onnx/fold/formula.h).
struct ChannelAffine {
  onnx::Tensor factor, offset;
};

// The data of a constant of this type, float32 or float64, as a vector of float64; nothing for any
// other value, and for one without elements.
std::optional<onnx::Tensor> doubles_of(const onnx::ValueInfo* value, onnx::DType dtype);
// One number, or one for each of so many.
onnx::Tensor number(double value);
onnx::Tensor numbers(std::int64_t count, double value);

// The Conv, ConvTranspose or Gemm whose output this is, for `reader` alone, with a weight that can
// be rewritten: float32 or float64, with data, and read by nothing else. Null otherwise, and where
// there is such a node, but not in this state, the context gets the reason.
onnx::Node* affine_taker(const onnx::ValueInfo* x, const onnx::Node* reader, RuleContext& context);

// Output channels of such a node.
std::int64_t channels_of(const onnx::Node* node);

// Gives the node a new weight and bias in the patch, the latter named after its old one or
// `bias_name`. They are computed in float64 and rounded once, the weight as it is written: a
// model's worth of them is never held. The patch fails where the factors are not finite or do not
// fit.
void apply_affine(Patch& patch, onnx::Node* node, const ChannelAffine& affine,
                  std::string_view bias_name);

}  // namespace sardonyx::passes

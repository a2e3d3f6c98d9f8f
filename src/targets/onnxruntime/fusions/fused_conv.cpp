// Before: y = Relu(Conv(x, w, b))
// After:  y = com.microsoft.FusedConv<activation = "Relu">(x, w, b)
// So, too, Sigmoid, Tanh, LeakyRelu, HardSigmoid and Clip by numbers. That a sum may stand between
// is not made use of: its kernel is slower than the three.
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rewriting/patch.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/workarounds/operators.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// The numbers that the kernel wants of an activation; nothing where they are not known.
std::optional<std::vector<float>> parameters_of(const Node* activation) {
  if (activation->is(Op::kLeakyRelu)) return std::vector{activation->float_or("alpha", 0.01F)};
  if (activation->is(Op::kHardSigmoid))
    return std::vector{activation->float_or("alpha", 0.2F), activation->float_or("beta", 0.5F)};
  if (!activation->is(Op::kClip)) return std::vector<float>{};
  constexpr float kLargest = std::numeric_limits<float>::max();
  std::vector<float> bounds{-kLargest, kLargest};
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueInfo* bound = activation->input(i + 1);
    if (bound == nullptr) continue;
    const auto number = rewriting::number_of(bound);
    if (!number) return std::nullopt;
    bounds[i] = static_cast<float>(*number);
  }
  return bounds;
}

bool fuse(Node* activation, rewriting::RuleContext& context) {
  const Node* conv = rewriting::made_by(activation->input(0), Op::kConv);
  if (conv == nullptr || conv->graph != activation->graph) return false;
  if (activation->output()->dtype != base::DType::kFloat32)
    return context.decline(activation, "there is a kernel for float32 alone");
  if (!rewriting::used_once(conv->output()))
    return context.decline(activation, "the convolution is read elsewhere, too");
  auto parameters = parameters_of(activation);
  if (!parameters) return context.decline(activation, "a bound is not known");

  std::vector<onnx::Attribute> attributes = conv->attributes;
  attributes.push_back({"activation", activation->op_type, {}});
  if (!parameters->empty()) attributes.push_back({"activation_params", *std::move(parameters), {}});
  rewriting::Patch patch(context, activation);
  ValueInfo* const y = activation->output();
  patch.replace(y, patch.node(microsoft::kActivatedConvolution, conv->inputs, std::move(attributes),
                              y->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kRelu, Op::kSigmoid,     Op::kTanh,
                         Op::kClip, Op::kHardSigmoid, Op::kLeakyRelu};

}  // namespace

const rewriting::Rule kFusedConv = {"fused-conv", kRoots, fuse, 11};

}  // namespace sardonyx::targets

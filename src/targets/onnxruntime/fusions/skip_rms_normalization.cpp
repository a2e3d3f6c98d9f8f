// Before: s = Add(x, skip); y = RMSNormalization<axis = -1>(s, scale)
// After:  y, , , s = com.microsoft.SkipSimplifiedLayerNormalization(x, skip, scale)
// Before: s = Add(x, skip); y = LayerNormalization<axis = -1>(s, scale, bias)
// After:  y, , , s = com.microsoft.SkipLayerNormalization(x, skip, scale, bias)
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "targets/onnxruntime/fusions/fusions.h"
#include "targets/onnxruntime/workarounds/operators.h"

namespace sardonyx::targets {
namespace {

using base::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool are_alike(const ValueInfo* a, const ValueInfo* b) {
  if (a == nullptr || b == nullptr || !a->has_rank || !b->has_rank || a->shape.size() != 3 ||
      b->shape.size() != 3)
    return false;
  for (std::size_t i = 0; i < 3; ++i)
    if (!a->shape[i].known() || !(a->shape[i] == b->shape[i])) return false;
  return true;
}

bool is_vector(const ValueInfo* value, DType dtype) {
  return value->has_rank && value->shape.size() == 1 && value->dtype == dtype &&
         value->constant != nullptr;
}

// Why the operator does not say what the nodes do; empty where it does.
std::string_view hindrance(const Node* normalization, const Node* sum) {
  const ValueInfo* scale = normalization->input(1);
  if (!are_alike(sum->input(0), sum->input(1))) return "what is added is not of one shape";
  if (const std::int64_t axis = normalization->int_or("axis", -1); axis != -1 && axis != 2)
    return "it normalizes over several axes";
  const DType dtype = sum->output()->dtype;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat16 && dtype != DType::kBFloat16)
    return "there are kernels for float32, float16 and bfloat16 alone";
  if (!is_vector(scale, dtype)) return "the scale is no constant vector of the same type";
  const ValueInfo* bias = normalization->input(2);
  if (bias != nullptr && !is_vector(bias, dtype))
    return "the bias is no constant vector of the same type";
  for (std::size_t i = 1; i < normalization->outputs.size(); ++i)
    if (normalization->output(i) != nullptr) return "its statistics are read";
  return {};
}

bool fuse(Node* normalization, const onnx::ForeignOperator& op, rewriting::RuleContext& context) {
  ValueInfo* const s = normalization->input(0);
  Node* const sum = rewriting::made_by(s, Op::kAdd);
  if (sum == nullptr || sum->graph != normalization->graph) return false;
  if (const std::string_view why = hindrance(normalization, sum); !why.empty())
    return context.decline(normalization, std::string(why));
  std::vector<onnx::Attribute> attributes = {
      {"epsilon", normalization->float_or("epsilon", 1e-5F), {}}};
  std::vector<ValueInfo*> inputs = {sum->input(0), sum->input(1), normalization->input(1)};
  if (normalization->input(2) != nullptr) inputs.push_back(normalization->input(2));
  // In front of the sum, which others read before the normalization.
  rewriting::Patch patch(context, sum);
  const std::vector<ValueInfo*> made =
      patch.nodes(op, inputs, std::move(attributes), normalization->output()->name, 4);
  if (!made.empty()) {
    patch.omit(made[1]);
    patch.omit(made[2]);
    // The last of a model hands out no sum.
    if (rewriting::used_once(s))
      patch.omit(made[3]);
    else
      patch.replace(s, made[3]);
    patch.replace(normalization->output(), made[0]);
  }
  return patch.apply();
}

bool fuse_rms(Node* normalization, rewriting::RuleContext& context) {
  return fuse(normalization, microsoft::kRmsNormalizationOfSum, context);
}

bool fuse_layer(Node* normalization, rewriting::RuleContext& context) {
  return fuse(normalization, microsoft::kNormalizationOfSum, context);
}

constexpr Op kRmsRoots[] = {Op::kRMSNormalization};
constexpr Op kLayerRoots[] = {Op::kLayerNormalization};

}  // namespace

const rewriting::Rule kSkipRmsNormalization = {"skip-rms-normalization", kRmsRoots, fuse_rms, 23};
const rewriting::Rule kSkipLayerNormalization = {"skip-layer-normalization", kLayerRoots,
                                                 fuse_layer, 17};

}  // namespace sardonyx::targets

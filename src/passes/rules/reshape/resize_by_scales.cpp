// Before: y = Resize(x, , , Concat(Shape<end = 2>(x), Shape<start = 2>(x) * 2))
// After:  y = Resize(x, , [1, 1, 2, 2])
// Sizes that are whole multiples of those there are need not be computed.
#include <cstdint>
#include <span>
#include <vector>

#include "onnx/graph/tensor.h"
#include "onnx/infer/inference.h"
#include "passes/rules/reshape/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

constexpr std::int64_t kMax = 64;

bool scale(Node* node, RuleContext& context) {
  ValueInfo *const x = node->input(0), *const sizes = node->input(3);
  if (sizes == nullptr || sizes->constant != nullptr || !x->has_rank ||
      node->find("axes") != nullptr || node->find("keep_aspect_ratio_policy") != nullptr ||
      node->string_or("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize")
    return false;
  const auto wanted = onnx::contents_of(sizes);
  if (!wanted || wanted->size() != x->shape.size()) return false;
  std::vector<float> scales;
  for (std::size_t axis = 0; axis < wanted->size(); ++axis) {
    if (!x->shape[axis].known() || !(*wanted)[axis].known()) return false;
    std::int64_t times = 1;
    while (times <= kMax && !(x->shape[axis] * times == (*wanted)[axis])) ++times;
    if (times > kMax) return false;
    scales.push_back(static_cast<float>(times));
  }
  Patch patch(context, node);
  const auto count = static_cast<std::int64_t>(scales.size());
  ValueInfo* const by = patch.constant(onnx::Tensor::of_bytes(
      onnx::DType::kFloat32, {count}, std::as_bytes(std::span<const float>(scales))));
  patch.replace(node->output(),
                patch.node(Op::kResize, {x, nullptr, by}, node->attributes, node->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kResize};

}  // namespace

const Rule kResizeByScales = {"resize-by-scales", kRoots, scale, 13};

}  // namespace sardonyx::passes

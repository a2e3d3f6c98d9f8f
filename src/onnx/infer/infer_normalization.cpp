// Normalizations and losses.
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

void like_data(Inference& node) { node.same_as(0, 0); }

void layer_normalization(Inference& node) {
  node.same_as(0, 0);
  const DType stash = static_cast<DType>(node.integer("stash_type", 1));
  for (std::size_t o = 1; o < node.outputs(); ++o) {
    node.set_dtype(o, stash);
    if (!node.has_rank(0)) continue;
    Shape statistics = node.shape(0);
    const std::size_t axis = node.axis(node.integer("axis", -1), node.rank(0));
    for (std::size_t i = axis; i < statistics.size(); ++i) statistics[i] = 1;
    node.set_shape(o, std::move(statistics));
  }
}

void batch_normalization(Inference& node) {
  node.same_as(0, 0);
  for (std::size_t o = 1; o < node.outputs(); ++o) {
    node.set_dtype(o, node.dtype(3));
    if (node.has_rank(0) && node.rank(0) > 1) node.set_shape(o, {node.shape(0)[1]});
  }
}

void cross_entropy(Inference& node) {
  const std::string reduction = node.node().string_or("reduction", "mean");
  if (reduction != "none")
    node.set_shape(0, {});
  else if (node.has_rank(1))
    node.set_shape(0, node.shape(1));
  if (node.has_rank(0)) node.set_shape(1, node.shape(0));
}

constexpr InferenceRule kRules[] = {
    {Op::kLayerNormalization, layer_normalization},
    {Op::kRMSNormalization, like_data},
    {Op::kGroupNormalization, like_data},
    {Op::kInstanceNormalization, like_data},
    {Op::kBatchNormalization, batch_normalization},
    {Op::kMeanVarianceNormalization, like_data},
    {Op::kLRN, like_data},
    {Op::kNegativeLogLikelihoodLoss, cross_entropy},
    {Op::kSoftmaxCrossEntropyLoss, cross_entropy},
};

}  // namespace

std::span<const InferenceRule> normalization_rules() { return kRules; }

}  // namespace sardonyx::onnx

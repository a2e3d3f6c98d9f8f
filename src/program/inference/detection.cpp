// Results of what finds boxes in images: torchvision's operators.
#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

// Which boxes are kept.
TensorTypes suppressed(const Bound& call) { return {{DType::kInt64, {call.fresh()}, {}}}; }

// One window of the image for each region of interest.
TensorTypes aligned(const Bound& call) {
  const Value& input = call.self();
  const Expr height = call.size("pooled_height"), width = call.size("pooled_width");
  Expr channels = input.shape.at(1);
  const bool by_position = call.name().starts_with("ps_");
  if (by_position) channels = symbolic::floor_div(channels, height * width);
  TensorTypes results = {like(input, {call.tensor("rois").shape.at(0), channels, height, width})};
  if (by_position || call.name() == "roi_pool")
    results.push_back({DType::kInt32, results.front().shape, {}});
  return results;
}

constexpr ResultRow kRows[] = {
    {"nms", suppressed},
    {"roi_align roi_pool ps_roi_align ps_roi_pool", aligned},
};

}  // namespace

std::span<const ResultRow> detection_results() { return kRows; }

}  // namespace sardonyx::program

// Reductions, running totals, softmax, and the choice of extreme elements.
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

// Axes from the attribute, from the second input, or none given. Nothing: given but not known.
std::optional<std::vector<std::int64_t>> reduced_axes(const Inference& node) {
  if (const auto* axes = node.list("axes")) return *axes;
  if (!node.has(1)) return std::vector<std::int64_t>{};
  return node.ints(1);
}

void reduce(Inference& node) {
  if (!node.has_rank(0)) return;
  const bool keep = node.integer("keepdims", 1) != 0;
  const auto axes = reduced_axes(node);
  if (!axes) {
    if (keep) node.set_rank(0, node.rank(0));
    return;
  }
  const Shape& in = node.shape(0);
  std::vector<bool> reduced(in.size(),
                            axes->empty() && node.integer("noop_with_empty_axes", 0) == 0);
  for (const std::size_t axis : node.axes(*axes, node.rank(0))) reduced[axis] = true;
  Shape out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!reduced[i])
      out.push_back(in[i]);
    else if (keep)
      out.emplace_back(1);
  }
  node.set_shape(0, std::move(out));
}

void arg_extreme(Inference& node) {
  if (!node.has_rank(0)) return;
  Shape out = node.shape(0);
  const std::size_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  if (node.integer("keepdims", 1) != 0)
    out[axis] = 1;
  else
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
  node.set_shape(0, std::move(out));
}

void along_axis(Inference& node) {
  if (node.has_rank(0)) {
    const std::int64_t otherwise = node.node().is(Op::kLpNormalization) ? -1 : 0;
    if (node.node().find("axis") != nullptr)
      node.axis(node.integer("axis", otherwise), node.rank(0));
  }
  node.same_as(0, 0);
}

void topk(Inference& node) {
  if (!node.has_rank(0)) return;
  Shape out = node.shape(0);
  const std::size_t axis = node.axis(node.integer("axis", -1), node.rank(0));
  const auto k = node.contents(1);
  out[axis] = k && k->size() == 1 ? k->front() : Expr();
  node.set_shape(0, out);
  node.set_shape(1, std::move(out));
}

constexpr InferenceRule kRules[] = {
    {Op::kReduceL1, reduce},
    {Op::kReduceL2, reduce},
    {Op::kReduceLogSum, reduce},
    {Op::kReduceLogSumExp, reduce},
    {Op::kReduceMax, reduce},
    {Op::kReduceMean, reduce},
    {Op::kReduceMin, reduce},
    {Op::kReduceProd, reduce},
    {Op::kReduceSum, reduce},
    {Op::kReduceSumSquare, reduce},
    {Op::kArgMax, arg_extreme},
    {Op::kArgMin, arg_extreme},
    {Op::kCumSum, along_axis},
    {Op::kCumProd, along_axis},
    {Op::kHardmax, along_axis},
    {Op::kLogSoftmax, along_axis},
    {Op::kLpNormalization, along_axis},
    {Op::kSoftmax, along_axis},
    {Op::kTopK, topk},
};

}  // namespace

std::span<const InferenceRule> reduction_rules() { return kRules; }

}  // namespace sardonyx::onnx

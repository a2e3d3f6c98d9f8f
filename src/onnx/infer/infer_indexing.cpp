// Reading and writing at indices, and outputs whose size depends on values.
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

void gather(Inference& node) {
  if (!node.has_rank(0) || !node.has_rank(1)) return;
  const std::size_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const Shape& data = node.shape(0);
  const Shape& indices = node.shape(1);
  const auto at = static_cast<std::ptrdiff_t>(axis);
  Shape out(data.begin(), data.begin() + at);
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), data.begin() + at + 1, data.end());
  node.set_shape(0, std::move(out));

  const auto& contents = node.node().input(0)->contents;
  const auto chosen = node.ints(1);
  if (contents.empty() || node.rank(0) != 1 || node.rank(1) > 1 || !chosen) return;
  const auto count = static_cast<std::int64_t>(contents.size());
  std::vector<Expr> elements;
  for (const std::int64_t index : *chosen) {
    const std::int64_t i = index < 0 ? index + count : index;
    if (i < 0 || i >= count) return;
    elements.push_back(contents[static_cast<std::size_t>(i)]);
  }
  node.set_contents(0, std::move(elements));
}

void gather_elements(Inference& node) {
  if (node.has_rank(1)) node.set_shape(0, node.shape(1));
}

void gather_nd(Inference& node) {
  if (!node.has_rank(0) || !node.has_rank(1) || node.rank(1) == 0) return;
  const Shape& data = node.shape(0);
  const Shape& indices = node.shape(1);
  const Expr depth = indices.back();
  const std::int64_t batch = node.integer("batch_dims", 0);
  if (!depth.is_constant()) return;
  const std::int64_t skipped = batch + depth.value();
  if (skipped > node.rank(0)) node.fail("the indices are deeper than the data");
  Shape out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(skipped), data.end());
  node.set_shape(0, std::move(out));
}

void like_data(Inference& node) { node.same_as(0, 0); }

void one_hot(Inference& node) {
  if (!node.has_rank(0)) return;
  const std::size_t axis = node.axis(node.integer("axis", -1), node.rank(0) + 1);
  Shape out = node.shape(0);
  const auto depth = node.contents(1);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis),
             depth && depth->size() == 1 ? depth->front() : Expr());
  node.set_shape(0, std::move(out));
}

void nonzero(Inference& node) {
  // A scalar counts as a vector of one element; NumPy gives it no coordinate.
  if (node.has_rank(0)) node.set_shape(0, {std::max<std::int64_t>(node.rank(0), 1), Expr()});
}

void compress(Inference& node) {
  if (node.node().find("axis") == nullptr) return node.set_rank(0, 1);
  if (!node.has_rank(0)) return;
  Shape out = node.shape(0);
  out[node.axis(node.integer("axis", 0), node.rank(0))] = Expr();
  node.set_shape(0, std::move(out));
}

void unique(Inference& node) {
  if (node.node().find("axis") == nullptr) {
    node.set_rank(0, 1);
  } else if (node.has_rank(0)) {
    Shape out = node.shape(0);
    out[node.axis(node.integer("axis", 0), node.rank(0))] = Expr();
    node.set_shape(0, std::move(out));
  }
  node.set_rank(1, 1);
  node.set_rank(2, 1);
  node.set_rank(3, 1);
}

void non_max_suppression(Inference& node) { node.set_shape(0, {Expr(), 3}); }

constexpr InferenceRule kRules[] = {
    {Op::kGather, gather},
    {Op::kGatherElements, gather_elements},
    {Op::kGatherND, gather_nd},
    {Op::kScatter, like_data},
    {Op::kScatterElements, like_data},
    {Op::kScatterND, like_data},
    {Op::kTensorScatter, like_data},
    {Op::kOneHot, one_hot},
    {Op::kNonZero, nonzero},
    {Op::kCompress, compress},
    {Op::kUnique, unique},
    {Op::kNonMaxSuppression, non_max_suppression},
};

}  // namespace

std::span<const InferenceRule> indexing_rules() { return kRules; }

}  // namespace sardonyx::onnx

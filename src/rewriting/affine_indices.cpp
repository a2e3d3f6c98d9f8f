#include "rewriting/affine_indices.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "onnx/gen/op.h"
#include "onnx/infer/inference.h"

namespace sardonyx::rewriting {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using symbolic::Expr;

// Constants are looked at element by element.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 20;

using Steps = std::vector<std::int64_t>;

// By the elements of a constant, each of which has to fit.
std::optional<AffineIndex> affine_index_of(const onnx::Tensor& tensor) {
  if (tensor.element_count() == 0 || tensor.element_count() > kMaxElements) return std::nullopt;
  const auto elements = tensor.ints();
  if (!elements) return std::nullopt;
  const std::size_t rank = tensor.dims.size();
  Steps strides(rank, 1), steps(rank, 0);
  for (std::size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * tensor.dims[i];
  const std::int64_t start = elements->front();
  for (std::size_t i = 0; i < rank; ++i)
    if (tensor.dims[i] > 1) steps[i] = (*elements)[static_cast<std::size_t>(strides[i])] - start;
  for (std::size_t at = 0; at < elements->size(); ++at) {
    std::int64_t expected = start, rest = static_cast<std::int64_t>(at);
    for (std::size_t i = 0; i < rank; ++i) {
      expected += rest / strides[i] * steps[i];
      rest %= strides[i];
    }
    if ((*elements)[at] != expected) return std::nullopt;
  }
  return AffineIndex{std::move(steps), start};
}

std::optional<Steps> axes_of(const Node* node, std::size_t rank) {
  const ValueInfo* axes = node->input(1);
  auto list = axes == nullptr || axes->constant == nullptr ? std::nullopt : axes->constant->ints();
  if (!list) return std::nullopt;
  for (std::int64_t& axis : *list)
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
  std::ranges::sort(*list);
  return list;
}

std::optional<AffineIndex> unsqueezed(const Node* node, AffineIndex index) {
  const std::size_t rank = node->output()->shape.size();
  const auto axes = axes_of(node, rank);
  if (!axes || index.steps.size() + axes->size() != rank) return std::nullopt;
  for (const std::int64_t axis : *axes) index.steps.insert(index.steps.begin() + axis, 0);
  return index;
}

std::optional<AffineIndex> squeezed(const Node* node, AffineIndex index) {
  const auto axes = axes_of(node, index.steps.size());
  if (!axes) return std::nullopt;
  for (auto axis = axes->rbegin(); axis != axes->rend(); ++axis)
    index.steps.erase(index.steps.begin() + *axis);
  return index;
}

// Where the dims differ in ones.
std::optional<AffineIndex> reshaped(const Node* node, const AffineIndex& index) {
  const onnx::Shape &from = node->input(0)->shape, &to = node->output()->shape;
  Steps kept;
  onnx::Shape sizes;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].is(1)) continue;
    kept.push_back(index.steps[i]);
    sizes.push_back(from[i]);
  }
  AffineIndex result{{}, index.start};
  std::size_t next = 0;
  for (const Expr& size : to) {
    if (size.is(1)) {
      result.steps.push_back(0);
    } else if (next < sizes.size() && size.known() && size == sizes[next]) {
      result.steps.push_back(kept[next++]);
    } else {
      return std::nullopt;
    }
  }
  return next == sizes.size() ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<AffineIndex> combined(const Node* node, const Feeds& feeds, std::int64_t sign) {
  const auto a = rewriting::affine_index_of(node->input(0), feeds),
             b = rewriting::affine_index_of(node->input(1), feeds);
  if (!a || !b) return std::nullopt;
  const std::size_t rank = std::max(a->steps.size(), b->steps.size());
  AffineIndex result = a->with_rank(rank);
  const AffineIndex other = b->with_rank(rank);
  for (std::size_t i = 0; i < rank; ++i) result.steps[i] += sign * other.steps[i];
  result.start = result.start + Expr(sign) * other.start;
  return result;
}

bool counts(const ValueInfo* value) {
  return value->dtype == base::DType::kInt64 || value->dtype == base::DType::kInt32 ||
         value->dtype == base::DType::kFloat32;
}

std::optional<AffineIndex> range(const Node* node) {
  const auto start = onnx::contents_of(node->input(0)), step = onnx::contents_of(node->input(2));
  if (!start || !step || start->size() != 1 || step->size() != 1 || !step->front().is_constant() ||
      !start->front().known())
    return std::nullopt;
  return AffineIndex{{step->front().value()}, start->front()};
}

}  // namespace

AffineIndex AffineIndex::with_rank(std::size_t rank) const {
  AffineIndex result = *this;
  if (rank > steps.size())
    result.steps.insert(result.steps.begin(), rank - steps.size(), std::int64_t{0});
  return result;
}

std::optional<AffineIndex> viewed(const Node* node, const AffineIndex& index) {
  if (!node->output()->has_rank || !node->input(0)->has_rank ||
      index.steps.size() != node->input(0)->shape.size())
    return std::nullopt;
  switch (node->op) {
    case Op::kUnsqueeze:
      return unsqueezed(node, index);
    case Op::kSqueeze:
      return squeezed(node, index);
    case Op::kExpand:
      return index.with_rank(node->output()->shape.size());
    case Op::kReshape:
      return reshaped(node, index);
    default:
      return std::nullopt;
  }
}

std::optional<AffineIndex> affine_index_of(const ValueInfo* value, const Feeds& feeds) {
  if (value == nullptr || value->is_disputed || !value->has_rank || !counts(value))
    return std::nullopt;
  if (value == feeds.position_ids) return AffineIndex{{0, 1}, feeds.past};
  if (value->constant != nullptr) return affine_index_of(*value->constant);
  if (value->contents.size() == 1 && value->contents.front().known())
    return AffineIndex{Steps(value->shape.size(), 0), value->contents.front()};
  const Node* node = value->producer;
  if (node == nullptr || !node->domain.empty()) return std::nullopt;
  switch (node->op) {
    case Op::kRange:
      return range(node);
    case Op::kAdd:
      return combined(node, feeds, 1);
    case Op::kSub:
      return combined(node, feeds, -1);
    case Op::kCast:
      return affine_index_of(node->input(0), feeds);
    default: {
      const auto inner = affine_index_of(node->input(0), feeds);
      return inner ? viewed(node, *inner) : std::nullopt;
    }
  }
}

}  // namespace sardonyx::rewriting

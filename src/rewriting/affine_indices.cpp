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
std::optional<Ramp> ramp_of(const onnx::Tensor& tensor) {
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
  return Ramp{std::move(steps), start};
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

std::optional<Ramp> unsqueezed(const Node* node, Ramp ramp) {
  const std::size_t rank = node->output()->shape.size();
  const auto axes = axes_of(node, rank);
  if (!axes || ramp.steps.size() + axes->size() != rank) return std::nullopt;
  for (const std::int64_t axis : *axes) ramp.steps.insert(ramp.steps.begin() + axis, 0);
  return ramp;
}

std::optional<Ramp> squeezed(const Node* node, Ramp ramp) {
  const auto axes = axes_of(node, ramp.steps.size());
  if (!axes) return std::nullopt;
  for (auto axis = axes->rbegin(); axis != axes->rend(); ++axis)
    ramp.steps.erase(ramp.steps.begin() + *axis);
  return ramp;
}

// Where the dims differ in ones.
std::optional<Ramp> reshaped(const Node* node, const Ramp& ramp) {
  const onnx::Shape &from = node->input(0)->shape, &to = node->output()->shape;
  Steps kept;
  onnx::Shape sizes;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].is(1)) continue;
    kept.push_back(ramp.steps[i]);
    sizes.push_back(from[i]);
  }
  Ramp result{{}, ramp.start};
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

std::optional<Ramp> combined(const Node* node, const Feeds& feeds, std::int64_t sign) {
  const auto a = rewriting::ramp_of(node->input(0), feeds),
             b = rewriting::ramp_of(node->input(1), feeds);
  if (!a || !b) return std::nullopt;
  const std::size_t rank = std::max(a->steps.size(), b->steps.size());
  Ramp result = a->with_rank(rank);
  const Ramp other = b->with_rank(rank);
  for (std::size_t i = 0; i < rank; ++i) result.steps[i] += sign * other.steps[i];
  result.start = result.start + Expr(sign) * other.start;
  return result;
}

bool counts(const ValueInfo* value) {
  return value->dtype == base::DType::kInt64 || value->dtype == base::DType::kInt32 ||
         value->dtype == base::DType::kFloat32;
}

std::optional<Ramp> range(const Node* node) {
  const auto start = onnx::contents_of(node->input(0)), step = onnx::contents_of(node->input(2));
  if (!start || !step || start->size() != 1 || step->size() != 1 || !step->front().is_constant() ||
      !start->front().known())
    return std::nullopt;
  return Ramp{{step->front().value()}, start->front()};
}

}  // namespace

Ramp Ramp::with_rank(std::size_t rank) const {
  Ramp result = *this;
  if (rank > steps.size())
    result.steps.insert(result.steps.begin(), rank - steps.size(), std::int64_t{0});
  return result;
}

std::optional<Ramp> viewed(const Node* node, const Ramp& ramp) {
  if (!node->output()->has_rank || !node->input(0)->has_rank ||
      ramp.steps.size() != node->input(0)->shape.size())
    return std::nullopt;
  switch (node->op) {
    case Op::kUnsqueeze:
      return unsqueezed(node, ramp);
    case Op::kSqueeze:
      return squeezed(node, ramp);
    case Op::kExpand:
      return ramp.with_rank(node->output()->shape.size());
    case Op::kReshape:
      return reshaped(node, ramp);
    default:
      return std::nullopt;
  }
}

std::optional<Ramp> ramp_of(const ValueInfo* value, const Feeds& feeds) {
  if (value == nullptr || value->is_disputed || !value->has_rank || !counts(value))
    return std::nullopt;
  if (value == feeds.position_ids) return Ramp{{0, 1}, feeds.past};
  if (value->constant != nullptr) return ramp_of(*value->constant);
  if (value->contents.size() == 1 && value->contents.front().known())
    return Ramp{Steps(value->shape.size(), 0), value->contents.front()};
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
      return ramp_of(node->input(0), feeds);
    default: {
      const auto inner = ramp_of(node->input(0), feeds);
      return inner ? viewed(node, *inner) : std::nullopt;
    }
  }
}

}  // namespace sardonyx::rewriting

#include "onnx/graph/value.h"

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace sardonyx::onnx {

std::int64_t Value::rank() const {
  if (!info_->has_rank)
    base::fail("SX1502", fmt::format("the rank of `{}` is not known", info_->name));
  return static_cast<std::int64_t>(info_->shape.size());
}

const Shape& Value::shape() const {
  rank();
  return info_->shape;
}

symbolic::Expr Value::dim(std::int64_t axis) const {
  const std::int64_t rank = this->rank();
  if (axis < -rank || axis >= rank)
    base::fail("SX1502",
               fmt::format("axis {} is out of range for `{}` of rank {}", axis, info_->name, rank));
  return info_->shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
}

symbolic::Expr Value::element_count() const {
  return info_->has_rank ? symbolic::product(info_->shape) : symbolic::Expr();
}

std::optional<std::vector<std::int64_t>> Value::ints() const {
  if (info_ == nullptr || info_->constant == nullptr) return std::nullopt;
  return info_->constant->ints();
}

std::optional<double> Value::real() const {
  if (info_ == nullptr || info_->constant == nullptr) return std::nullopt;
  if (info_->constant->element_count() != 1) return std::nullopt;
  const auto values = info_->constant->reals();
  return values ? std::optional(values->front()) : std::nullopt;
}

}  // namespace sardonyx::onnx

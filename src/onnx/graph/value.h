// The handle by which translators and passes hold an ONNX value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// A pointer to a ValueInfo with the questions translators ask. A default-constructed Value is
// "absent": an optional input that is not given.
class Value {
 public:
  Value() = default;
  Value(ValueInfo* info) : info_(info) {}  // NOLINT(google-explicit-constructor)
  Value(int) = delete;                     // squeeze(x, 0): an axis is no value

  explicit operator bool() const { return info_ != nullptr; }
  ValueInfo* info() const { return info_; }
  ValueInfo* operator->() const { return info_; }
  friend bool operator==(Value a, Value b) = default;

  DType dtype() const { return info_->dtype; }
  bool is_complex() const { return info_->is_complex; }
  bool has_rank() const { return info_->has_rank; }
  // Throws SX1502 when the rank is not known (no translator may guess it).
  std::int64_t rank() const;
  const Shape& shape() const;
  // Size of an axis, which may be negative; unknown when the dim is.
  symbolic::Expr dim(std::int64_t axis) const;
  // Elements, as an expression; unknown when a dim is.
  symbolic::Expr element_count() const;
  bool is_scalar() const { return has_rank() && info_->shape.empty(); }

  bool is_constant() const { return info_->constant != nullptr; }
  const Tensor* constant() const { return info_->constant.get(); }
  // Elements of an integer or bool constant.
  std::optional<std::vector<std::int64_t>> ints() const;
  // The element of a one-element constant.
  std::optional<double> real() const;

 private:
  ValueInfo* info_ = nullptr;
};

using Values = std::vector<Value>;

}  // namespace sardonyx::onnx

// Scalars as values, and PyTorch's type promotion.
#include "aten/call.h"

namespace sardonyx::aten {
namespace {

DType promote_known(DType a, DType b) {
  if (a == DType::kUndefined) return b;
  return b == DType::kUndefined ? a : base::promote(a, b);
}

// How a group of higher priority takes in one of lower priority.
DType combine(DType higher, DType lower) {
  if (base::is_complex(higher)) return higher;
  if (base::is_floating(higher)) {
    return base::is_complex(lower) ? base::complex_of(higher) : higher;
  }
  if (higher == DType::kBool || base::is_floating(lower) || base::is_complex(lower)) {
    return promote_known(higher, lower);
  }
  return higher != DType::kUndefined ? higher : lower;
}

DType dtype_of(Value tensor) {
  return tensor.is_complex() ? base::complex_of(tensor.dtype()) : tensor.dtype();
}

}  // namespace

ResultType& ResultType::add(Value tensor) {
  // A complex value carries a trailing pair.
  const bool zero_dim = tensor.rank() == (tensor.is_complex() ? 1 : 0);
  DType& group = zero_dim ? zero_dim_ : dimensioned_;
  group = promote_known(group, dtype_of(tensor));
  return *this;
}

ResultType& ResultType::add(const Scalar& number) {
  const DType dtype = number.is_complex()   ? DType::kComplex64
                      : number.is_float()   ? DType::kFloat32
                      : number.is_integer() ? DType::kInt64
                                            : DType::kBool;
  number_ = promote_known(number_, dtype);
  return *this;
}

DType ResultType::dtype() const { return combine(dimensioned_, combine(zero_dim_, number_)); }

Value scalar_value(Emit& onnx, const Scalar& scalar, DType dtype) {
  if (const Expr* expr = scalar.expr()) {
    if (scalar.is_bool()) return onnx.cast(onnx.condition(*expr), dtype);
    if (scalar.is_float()) return onnx.cast(onnx.real_size(*expr, DType::kFloat64), dtype);
    return onnx.cast(onnx.size(*expr), dtype);
  }
  if (base::is_integer(dtype) && !scalar.is_float()) {
    return onnx.int_scalar(scalar.as_int(), dtype);
  }
  return onnx.scalar(scalar.as_double(), dtype);
}

Value cast_to_result(Emit& onnx, const Call& call, Value x) {
  return onnx.cast(x, base::real_of(call.result_dtype()));
}

Pair promoted(Emit& onnx, Value left, Value right) {
  const DType dtype = ResultType().add(left).add(right).dtype();
  return {onnx.cast(left, dtype), onnx.cast(right, dtype)};
}

Pair promoted(Emit& onnx, Value left, const Scalar& right) {
  const DType dtype = ResultType().add(left).add(right).dtype();
  return {onnx.cast(left, dtype), scalar_value(onnx, right, dtype)};
}

}  // namespace sardonyx::aten

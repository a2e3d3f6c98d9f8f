#include "program/ir/strides.h"

namespace sardonyx::program {
namespace {

bool is_contiguous(const Value& value) {
  for (const symbolic::Expr size : value.shape) {
    if (size.is(0)) return true;
  }
  symbolic::Expr expected = 1;
  symbolic::Expr by_pytorch = 1;  // takes empty dimensions for 1
  for (std::size_t i = value.shape.size(); i-- > 0;) {
    const symbolic::Expr size = value.shape[i];
    if (size.is(1)) continue;
    const symbolic::Expr stride = value.strides[i];
    if (!(stride == expected) && !(stride == by_pytorch)) return false;
    expected = expected * size;
    by_pytorch = by_pytorch * symbolic::max(1, size);
  }
  return true;
}

}  // namespace

void drop_contiguous_strides(Value& value) {
  if (value.strides.size() != value.shape.size() || is_contiguous(value)) value.strides.clear();
}

}  // namespace sardonyx::program

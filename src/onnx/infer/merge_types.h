// Two accounts of one value's type.
#pragma once

#include <string>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// What is known of a value but its name and place.
struct Type {
  TypeKind kind = TypeKind::kTensor;
  DType dtype = DType::kUndefined;
  bool has_rank = false;
  Shape shape;

  friend bool operator==(const Type& a, const Type& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.has_rank == b.has_rank &&
           same_text(a.shape, b.shape);
  }
};

Type type_of(const ValueInfo& value);
void set_type(ValueInfo& value, Type type);

// The operator's account with what only the declared one says. In what they contradict each other
// goes to `contradiction`; the operator's counts.
Type merged(const Type& declared, const Type& inferred, std::string& contradiction);

// What holds for both.
Type common(const Type& a, const Type& b);

}  // namespace sardonyx::onnx

#include "onnx/infer/merge_types.h"

#include <fmt/format.h>

#include <utility>

#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

std::string text(const Type& type) {
  ValueInfo value;
  set_type(value, type);
  return type_text(value);
}

// A constant that is declared of a size that is none is of another model: files whose inputs were
// made dynamic afterwards often have such.
bool contradict(Expr declared, Expr inferred) {
  return declared.is_constant() && inferred.known() && !(declared == inferred);
}

}  // namespace

Type type_of(const ValueInfo& value) {
  return {value.type_kind, value.dtype, value.has_rank, value.shape};
}

void set_type(ValueInfo& value, Type type) {
  value.type_kind = type.kind;
  value.dtype = type.dtype;
  value.has_rank = type.has_rank;
  value.shape = std::move(type.shape);
}

Type merged(const Type& declared, const Type& inferred, std::string& contradiction) {
  if (inferred.dtype == DType::kUndefined && !inferred.has_rank) return declared;
  const auto dispute = [&] {
    if (contradiction.empty())
      contradiction = fmt::format("declared {}, but {}", text(declared), text(inferred));
  };
  Type result = inferred;
  if (declared.dtype == DType::kUndefined && !declared.has_rank) return result;
  if (declared.kind != inferred.kind) {
    // Of sequences and the like no rule says that they are, but few that they are none.
    if (inferred.kind == TypeKind::kTensor && !inferred.has_rank) return declared;
    dispute();
    return result;
  }
  if (result.dtype == DType::kUndefined) {
    result.dtype = declared.dtype;
  } else if (declared.dtype != DType::kUndefined && declared.dtype != result.dtype) {
    dispute();
  }
  if (!declared.has_rank) return result;
  if (!result.has_rank) {
    result.has_rank = true;
    result.shape = declared.shape;
    return result;
  }
  if (declared.shape.size() != result.shape.size()) {
    dispute();
    return result;
  }
  for (std::size_t i = 0; i < result.shape.size(); ++i) {
    if (contradict(declared.shape[i], result.shape[i])) dispute();
    if (!result.shape[i].known()) result.shape[i] = declared.shape[i];
  }
  return result;
}

Type common(const Type& a, const Type& b) {
  Type result = a;
  if (a.kind != b.kind || a.dtype != b.dtype) return {};
  if (!a.has_rank || !b.has_rank || a.shape.size() != b.shape.size()) {
    result.has_rank = false;
    result.shape.clear();
    return result;
  }
  for (std::size_t i = 0; i < a.shape.size(); ++i)
    result.shape[i] = common_dim(a.shape[i], b.shape[i]);
  return result;
}

}  // namespace sardonyx::onnx

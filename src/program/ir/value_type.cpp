#include "program/ir/value_type.h"

#include <string_view>

namespace sardonyx::program {
namespace {

std::string shape_text(const ValueType& type) {
  if (!type.has_rank) return "[...]";
  std::string text = "[";
  for (const symbolic::Expr& size : type.shape) {
    if (&size != type.shape.data()) text += ", ";
    text += size.known() ? size.str() : "?";
  }
  return text + "]";
}

std::string with_items(std::string_view name, const ValueType& type) {
  std::string text = std::string(name) + "[";
  for (const ValueType& item : type.items) {
    if (&item != type.items.data()) text += ", ";
    text += type_text(item);
  }
  return text + "]";
}

}  // namespace

bool is_settled(const ValueType& type) {
  if (type.kind == ValueKind::kTensor)
    return type.has_rank && type.dtype != base::DType::kUndefined;
  if (type.kind == ValueKind::kList)
    return type.items.size() == 1 && type.items[0].kind == ValueKind::kTensor &&
           is_settled(type.items[0]);
  return type.kind <= ValueKind::kObject;
}

std::string type_text(const ValueType& type) {
  switch (type.kind) {
    case ValueKind::kTensor: {
      const bool known = type.dtype != base::DType::kUndefined;
      return (known ? std::string(base::dtype_name(type.dtype)) : "?") + shape_text(type);
    }
    case ValueKind::kInt:
      return "int";
    case ValueKind::kFloat:
      return "float";
    case ValueKind::kBool:
      return "bool";
    case ValueKind::kString:
      return "str";
    case ValueKind::kNone:
      return "None";
    case ValueKind::kOptional:
      return with_items("Optional", type);
    case ValueKind::kList:
      return with_items("List", type);
    case ValueKind::kTuple:
      return with_items("Tuple", type);
    case ValueKind::kDict:
      return with_items("Dict", type);
    case ValueKind::kObject:
      break;
  }
  return "object";
}

}  // namespace sardonyx::program

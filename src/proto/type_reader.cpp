#include "proto/type_reader.h"

#include <utility>

#include "base/diagnostic.h"
#include "proto/decoder.h"
#include "proto/fields.h"
#include "proto/tensor_reader.h"

namespace sardonyx::proto {
namespace {

using onnx::TypeKind;
using symbolic::Expr;

Expr read_dim(std::string_view message, symbolic::Pool& pool) {
  namespace f = field::shape;
  Expr dim;
  for (Decoder in(message); in.next();) {
    if (in.field() == f::kDimValue) {
      const std::int64_t value = in.integer();
      dim = value >= 0 ? Expr(value) : Expr();  // some exporters say -1 for "any"
    } else if (in.field() == f::kDimParam) {
      const std::string_view name = in.text();
      dim = name.empty() ? Expr() : pool.symbol(name);
    }
  }
  return dim;
}

void read_shape(std::string_view message, onnx::ValueInfo& value, symbolic::Pool& pool) {
  value.has_rank = true;
  value.shape.clear();
  for (Decoder in(message); in.next();) {
    if (in.field() == field::shape::kDim) value.shape.push_back(read_dim(in.text(), pool));
  }
}

void read_tensor_type(std::string_view message, onnx::ValueInfo& value, symbolic::Pool& pool) {
  for (Decoder in(message); in.next();) {
    if (in.field() == field::type::kElementType) value.dtype = dtype_of(in.integer());
    if (in.field() == field::type::kShape) read_shape(in.text(), value, pool);
  }
}

[[noreturn]] void refuse(const char* what) {
  base::fail("SX1153", std::string("values of the type ") + what + " are not supported");
}

// The tensor type in a sequence or an optional.
void read_element(std::string_view message, onnx::ValueInfo& value, symbolic::Pool& pool) {
  for (Decoder in(message); in.next();) {
    if (in.field() != field::type::kElementType) continue;
    for (Decoder element(in.text()); element.next();) {
      if (element.field() == field::type::kTensor) {
        read_tensor_type(element.text(), value, pool);
      } else if (element.field() != field::type::kDenotation) {
        refuse("sequence or optional of something other than tensors");
      }
    }
  }
}

}  // namespace

void read_type(std::string_view message, onnx::ValueInfo& value, symbolic::Pool& pool) {
  namespace f = field::type;
  for (Decoder in(message); in.next();) {
    switch (in.field()) {
      case f::kTensor:
        value.type_kind = TypeKind::kTensor;
        read_tensor_type(in.text(), value, pool);
        break;
      case f::kSequence:
        value.type_kind = TypeKind::kSequence;
        read_element(in.text(), value, pool);
        break;
      case f::kOptional:
        value.type_kind = TypeKind::kOptional;
        read_element(in.text(), value, pool);
        break;
      case f::kMap:
        refuse("map");
      case f::kOpaque:
        refuse("opaque");
      case f::kSparseTensor:
        refuse("sparse tensor");
      default:
        break;
    }
  }
}

}  // namespace sardonyx::proto

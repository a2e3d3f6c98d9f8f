#include "proto/reader/type_reader.h"

#include <algorithm>
#include <array>

#include "proto/reader/tensor_reader.h"
#include "proto/wire/decoder.h"
#include "proto/wire/fields.h"

namespace sardonyx::proto {
namespace {

using onnx::TypeKind;
using symbolic::Expr;

// What exporters call dims of which they know nothing: two of them need not be the same.
constexpr std::array<std::string_view, 6> kUnknown = {"?", "*", "-1", "None", "unk", "unknown"};

class TypeReader {
 public:
  TypeReader(onnx::ValueInfo& value, symbolic::Pool& pool) : value_(value), pool_(pool) {}

  // Whether the type says more than what was set.
  bool read(std::string_view message) {
    namespace f = field::type;
    for (Decoder in(message); in.next();) {
      switch (in.field()) {
        case f::kTensor:
          value_.type_kind = TypeKind::kTensor;
          tensor(in.text());
          break;
        case f::kSequence:
          element(in.text(), TypeKind::kSequence);
          break;
        case f::kOptional:
          element(in.text(), TypeKind::kOptional);
          break;
        case f::kMap:
        case f::kOpaque:
        case f::kSparseTensor:
          value_.type_kind = TypeKind::kOther;
          more_ = true;
          break;
        default:
          more_ = true;
          break;
      }
    }
    return more_;
  }

 private:
  Expr dim(std::string_view message) {
    namespace f = field::shape;
    Expr dim;
    for (Decoder in(message); in.next();) {
      if (in.field() == f::kDimValue) {
        const std::int64_t value = in.integer();
        dim = value >= 0 ? Expr(value) : Expr();  // some exporters say -1 for "any"
        more_ = more_ || value < 0;
      } else if (in.field() == f::kDimParam) {
        const std::string_view name = in.text();
        const bool unknown = name.empty() || std::ranges::find(kUnknown, name) != kUnknown.end();
        dim = unknown ? Expr() : pool_.symbol(name);
        more_ = more_ || unknown;
      } else {
        more_ = true;  // a denotation
      }
    }
    return dim;
  }

  void shape(std::string_view message) {
    value_.has_rank = true;
    value_.shape.clear();
    for (Decoder in(message); in.next();) {
      if (in.field() == field::shape::kDim) value_.shape.push_back(dim(in.text()));
    }
  }

  void tensor(std::string_view message) {
    for (Decoder in(message); in.next();) {
      if (in.field() == field::type::kElementType) value_.dtype = dtype_of(in.integer());
      if (in.field() == field::type::kShape) shape(in.text());
    }
  }

  // What is in a sequence or an optional: a tensor, or something that is only carried through.
  void element(std::string_view message, TypeKind kind) {
    value_.type_kind = kind;
    for (Decoder in(message); in.next();) {
      if (in.field() != field::type::kElementType) continue;
      for (Decoder inner(in.text()); inner.next();) {
        if (inner.field() == field::type::kTensor) {
          tensor(inner.text());
          continue;
        }
        more_ = true;
        if (inner.field() != field::type::kDenotation) value_.type_kind = TypeKind::kOther;
      }
    }
  }

  onnx::ValueInfo& value_;
  symbolic::Pool& pool_;
  bool more_ = false;
};

}  // namespace

bool read_type(std::string_view message, onnx::ValueInfo& value, symbolic::Pool& pool) {
  return TypeReader(value, pool).read(message);
}

}  // namespace sardonyx::proto

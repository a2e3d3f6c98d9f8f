#include "program/schema/coerce.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace sardonyx::program {
namespace {

using base::DType;
using symbolic::Expr;

struct TypeName {
  TypeKind kind;
  std::string_view name;
};

constexpr std::array<TypeName, 13> kTypeNames = {{
    {TypeKind::kTensor, "Tensor"},
    {TypeKind::kInt, "int"},
    {TypeKind::kFloat, "float"},
    {TypeKind::kBool, "bool"},
    {TypeKind::kNumber, "Scalar"},
    {TypeKind::kComplex, "complex"},
    {TypeKind::kString, "str"},
    {TypeKind::kDType, "ScalarType"},
    {TypeKind::kLayout, "Layout"},
    {TypeKind::kMemoryFormat, "MemoryFormat"},
    {TypeKind::kDevice, "Device"},
    {TypeKind::kGenerator, "Generator"},
    {TypeKind::kAny, "Any"},
}};

// c10::ScalarType by number, as integers in schemas and TorchScript give it. Quantized and opaque
// types have no counterpart.
DType dtype_of_number(std::int64_t number) {
  constexpr std::array<DType, 46> kByNumber = [] {
    std::array<DType, 46> table{};
    table[0] = DType::kUInt8;
    table[1] = DType::kInt8;
    table[2] = DType::kInt16;
    table[3] = DType::kInt32;
    table[4] = DType::kInt64;
    table[5] = DType::kFloat16;
    table[6] = DType::kFloat32;
    table[7] = DType::kFloat64;
    table[9] = DType::kComplex64;
    table[10] = DType::kComplex128;
    table[11] = DType::kBool;
    table[15] = DType::kBFloat16;
    table[23] = DType::kFloat8E5M2;
    table[24] = DType::kFloat8E4M3FN;
    table[25] = DType::kFloat8E5M2FNUZ;
    table[26] = DType::kFloat8E4M3FNUZ;
    table[27] = DType::kUInt16;
    table[28] = DType::kUInt32;
    table[29] = DType::kUInt64;
    table[31] = DType::kUInt2;
    table[33] = DType::kUInt4;
    table[38] = DType::kInt2;
    table[40] = DType::kInt4;
    table[44] = DType::kFloat8E8M0;
    table[45] = DType::kFloat4E2M1;
    return table;
  }();
  if (number < 0 || number >= static_cast<std::int64_t>(kByNumber.size())) return DType::kUndefined;
  return kByNumber[static_cast<std::size_t>(number)];
}

std::string_view enumerator_of_number(TypeKind kind, std::int64_t number) {
  constexpr std::array<std::string_view, 4> kFormats = {"contiguous_format", "preserve_format",
                                                        "channels_last", "channels_last_3d"};
  constexpr std::array<std::string_view, 7> kLayouts = {
      "strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc"};
  if (number < 0) return {};
  const auto index = static_cast<std::size_t>(number);
  if (kind == TypeKind::kMemoryFormat) return index < 4 ? kFormats[index] : std::string_view();
  return index < kLayouts.size() ? kLayouts[index] : std::string_view();
}

bool to_float(Argument& argument) {
  if (argument.get<double>() || argument.get<Value*>()) return true;
  if (const bool* flag = argument.get<bool>()) {
    argument = *flag ? 1.0 : 0.0;
    return true;
  }
  if (const Expr* number = argument.get<Expr>()) {
    if (const auto constant = number->constant()) argument = static_cast<double>(*constant);
    return true;
  }
  return false;
}

bool to_complex(Argument& argument) {
  if (argument.get<std::complex<double>>() || argument.get<Value*>()) return true;
  if (!to_float(argument)) return false;
  if (const double* real = argument.get<double>()) argument = std::complex<double>(*real, 0.0);
  return true;
}

bool to_int(Argument& argument) {
  if (argument.get<Expr>() || argument.get<Value*>()) return true;
  if (const bool* flag = argument.get<bool>()) {
    argument = Expr(*flag ? 1 : 0);
    return true;
  }
  return false;
}

bool to_bool(Argument& argument) {
  if (argument.get<bool>() || argument.get<Value*>()) return true;
  if (const Expr* number = argument.get<Expr>()) {
    // A SymBool stays an expression; a number is its truth.
    if (const auto constant = number->constant()) argument = *constant != 0;
    return true;
  }
  return false;
}

bool to_dtype(Argument& argument) {
  if (argument.get<DType>()) return true;
  if (const Enumerator* name = argument.get<Enumerator>()) {  // "int64", in a schema's default
    const auto dtype = base::dtype_from_name(name->name);
    if (dtype) argument = *dtype;
    return dtype.has_value();
  }
  const Expr* number = argument.get<Expr>();
  if (!number || !number->is_constant()) return false;
  argument = dtype_of_number(number->value());
  return true;
}

bool to_enumerator(TypeKind kind, Argument& argument) {
  if (argument.get<Enumerator>()) return true;
  if (std::string* text = argument.get<std::string>()) {
    argument = Enumerator{std::string(*text)};
    return true;
  }
  const Expr* number = argument.get<Expr>();
  if (!number || !number->is_constant() || kind == TypeKind::kDevice) return false;
  const std::string_view name = enumerator_of_number(kind, number->value());
  if (name.empty()) return false;
  argument = Enumerator{std::string(name)};
  return true;
}

bool is_number(const Argument& argument) {
  return argument.get<Expr>() || argument.get<double>() || argument.get<bool>() ||
         argument.get<Value*>() || argument.get<std::complex<double>>();
}

bool coerce_item(TypeKind kind, Argument& argument) {
  switch (kind) {
    case TypeKind::kTensor:
      return is_number(argument);  // add.Tensor(x, 3): PyTorch wraps the number
    case TypeKind::kInt:
      return to_int(argument);
    case TypeKind::kFloat:
      return to_float(argument);
    case TypeKind::kBool:
      return to_bool(argument);
    case TypeKind::kNumber:
      return is_number(argument);
    case TypeKind::kComplex:
      return to_complex(argument);
    case TypeKind::kString:
      return argument.get<std::string>() != nullptr;
    case TypeKind::kDType:
      return to_dtype(argument);
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
    case TypeKind::kDevice:
      return to_enumerator(kind, argument);
    case TypeKind::kGenerator:
      return argument.get<Opaque>() || argument.get<Value*>();
    case TypeKind::kAny:
      return true;
  }
  return false;
}

std::string mismatch(const TypeSpec& type, const Argument& argument) {
  return "expected " + to_string(type) + ", got " + describe(argument);
}

std::string coerce_list(const TypeSpec& type, Argument& argument) {
  TypeSpec item = type;
  item.list_depth = type.list_depth - 1;
  item.fixed_size = 0;
  item.optional = item.list_depth == 0 && type.optional_items;
  item.optional_items = item.list_depth > 0 && type.optional_items;

  if (!argument.get<List>()) {
    // A number stands for a list of itself: of the declared length, or of one.
    Argument single = argument;
    if (type.kind == TypeKind::kTensor || type.list_depth > 1 || !coerce(item, single).empty())
      return mismatch(type, argument);
    const int count = type.fixed_size > 0 ? type.fixed_size : 1;
    argument = List(static_cast<std::size_t>(count), single);
    return {};
  }
  for (Argument& element : *argument.get<List>()) {
    if (!coerce(item, element).empty()) return mismatch(type, argument);
  }
  return {};
}

}  // namespace

std::string coerce(const TypeSpec& type, Argument& argument) {
  if (type.kind == TypeKind::kAny) return {};
  if (argument.is_none()) {
    // Captured programs pass None for a Generator that the schema calls obligatory, too.
    if (type.optional || type.kind == TypeKind::kGenerator) return {};
    return mismatch(type, argument);
  }
  if (type.list_depth > 0) return coerce_list(type, argument);
  return coerce_item(type.kind, argument) ? std::string() : mismatch(type, argument);
}

std::string to_string(const TypeSpec& type) {
  std::string text;
  for (const TypeName& entry : kTypeNames) {
    if (entry.kind == type.kind) text = entry.name;
  }
  if (type.optional_items) text += '?';
  for (int i = 0; i < type.list_depth; ++i) {
    const bool sized = type.fixed_size > 0 && i + 1 == type.list_depth;
    text += sized ? "[" + std::to_string(type.fixed_size) + "]" : "[]";
  }
  if (type.optional) text += '?';
  return text;
}

}  // namespace sardonyx::program

// The schema of an ATen (or custom) operator, as PyTorch writes it:
// "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/schema/argument.h"

namespace sardonyx::program {

enum class TypeKind : std::uint8_t {
  kTensor,
  kInt,  // int and SymInt
  kFloat,
  kBool,
  kNumber,  // Scalar
  kComplex,
  kString,
  kDType,  // ScalarType
  kLayout,
  kMemoryFormat,
  kDevice,
  kGenerator,
  kAny,  // anything else: Storage, Stream, custom classes, function types
};

struct TypeSpec {
  TypeKind kind = TypeKind::kAny;
  int list_depth = 0;           // 1 for Tensor[], 2 for int[][]
  int fixed_size = 0;           // 2 for int[2]: a single number fills the list
  bool optional = false;        // of the whole: Tensor[]?, int?
  bool optional_items = false;  // of the items: Tensor?[]
};

// "(a!)": which alias set an argument belongs to and whether the operator writes to it.
struct AliasInfo {
  std::string set;  // "a"; empty when there is no annotation; "*" is a wildcard
  bool is_write = false;
};

struct Parameter {
  std::string name;
  TypeSpec type;
  AliasInfo alias;
  bool keyword_only = false;
  std::optional<Argument> default_value;
};

struct ReturnSpec {
  std::string name;
  TypeSpec type;
  AliasInfo alias;
};

struct Schema {
  std::string name;      // "aten::add"
  std::string overload;  // "Tensor"; empty for the default overload
  std::vector<Parameter> parameters;
  std::vector<ReturnSpec> returns;

  std::string_view space() const;      // "aten"
  std::string_view base_name() const;  // "add"
  std::string qualified() const;       // "aten::add.Tensor", "aten::relu"
  // Position of a parameter, or nothing.
  std::optional<std::size_t> find(std::string_view parameter) const;
  bool mutates() const;  // some parameter is written to
};

// Parses PyTorch's schema text. Throws base::Error SX1203 on malformed text.
Schema parse_schema(std::string_view text);
// The text again, in one spelling: SymInt reads int, types that no tensor program needs read Any.
std::string to_string(const Schema& schema);

// The schemas that this build knows without PyTorch (ATen, prims, torchvision and others), parsed
// when first asked for. Names are "aten::add.Tensor". Null when unknown. Thread-safe.
const Schema* find_schema(std::string_view qualified_name);
// The texts of all of them.
std::vector<std::string_view> known_schemas();

}  // namespace sardonyx::program

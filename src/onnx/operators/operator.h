// What the ONNX specification says of its operators: inputs, outputs, attributes and types by
// version. The tables are generated (onnx/gen/) from the `onnx` package.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"

namespace sardonyx::onnx {

enum class Op : std::uint16_t;  // onnx/gen/op.h

// Sets of element types, one bit each, by the numbers of base::DType.
using DTypeSet = std::uint32_t;
inline constexpr DTypeSet kSequenceBit = 1U << 31;  // sequences of those
inline constexpr DTypeSet kOptionalBit = 1U << 30;  // optionals of those
constexpr DTypeSet dtype_bit(base::DType dtype) { return 1U << static_cast<unsigned>(dtype); }

enum class FormalOption : std::uint8_t { kRequired, kOptional, kVariadic };

struct Formal {
  std::string_view name;
  FormalOption option;
  std::string_view type_parameter;  // "T"; empty where the type is fixed
  DTypeSet dtypes;
};

enum class AttributeKind : std::uint8_t {
  kInt,
  kFloat,
  kString,
  kTensor,
  kGraph,
  kInts,
  kFloats,
  kStrings,
  kOther,
};

struct AttributeFormal {
  std::string_view name;
  AttributeKind kind;
  bool required;
  bool has_default;  // of the simple kinds; one of the following three
  std::int64_t default_int;
  float default_float;
  std::string_view default_string;
};

struct OperatorVersion {
  int since;
  bool deprecated;
  std::uint16_t min_inputs;
  std::uint16_t max_inputs;  // kMany: variadic
  std::uint16_t min_outputs;
  std::uint16_t max_outputs;
  std::span<const Formal> inputs;
  std::span<const Formal> outputs;
  std::span<const AttributeFormal> attributes;

  static constexpr std::uint16_t kMany = 0xffff;
  // The formal of an actual input; the last one for the further ones of a variadic.
  const Formal* input(std::size_t index) const;
  const Formal* output(std::size_t index) const;
  const AttributeFormal* attribute(std::string_view name) const;
};

struct Operator {
  Op id;
  std::string_view name;
  std::span<const OperatorVersion> versions;  // ascending, from the one that opset 7 has
  bool random;                                // two equal nodes differ

  // The version that this opset has; null when the operator came later.
  const OperatorVersion* at(std::int64_t opset) const;
};

// All of ONNX's own domain, sorted by name.
std::span<const Operator> operators();
const Operator& operator_of(Op id);
// Null when the default domain has no operator of that name.
const Operator* find_operator(std::string_view name);
// The newest opset that the tables know, and the IR version that came with an opset.
std::int64_t newest_opset();
std::int64_t ir_version_of(std::int64_t opset);

}  // namespace sardonyx::onnx

#include "base/dtype.h"

#include <array>
#include <limits>

namespace sardonyx::base {
namespace {

enum class Group : std::uint8_t { kOther, kBool, kUnsigned, kSigned, kFloating, kComplex };

struct Facts {
  std::string_view name;
  int bits;
  Group group;
};

// Indexed by the number of the type.
constexpr std::array<Facts, 29> kFacts = {{
    {"undefined", 0, Group::kOther},
    {"float32", 32, Group::kFloating},
    {"uint8", 8, Group::kUnsigned},
    {"int8", 8, Group::kSigned},
    {"uint16", 16, Group::kUnsigned},
    {"int16", 16, Group::kSigned},
    {"int32", 32, Group::kSigned},
    {"int64", 64, Group::kSigned},
    {"string", 0, Group::kOther},
    {"bool", 8, Group::kBool},
    {"float16", 16, Group::kFloating},
    {"float64", 64, Group::kFloating},
    {"uint32", 32, Group::kUnsigned},
    {"uint64", 64, Group::kUnsigned},
    {"complex64", 64, Group::kComplex},
    {"complex128", 128, Group::kComplex},
    {"bfloat16", 16, Group::kFloating},
    {"float8_e4m3fn", 8, Group::kFloating},
    {"float8_e4m3fnuz", 8, Group::kFloating},
    {"float8_e5m2", 8, Group::kFloating},
    {"float8_e5m2fnuz", 8, Group::kFloating},
    {"uint4", 4, Group::kUnsigned},
    {"int4", 4, Group::kSigned},
    {"float4_e2m1fn", 4, Group::kFloating},
    {"float8_e8m0fnu", 8, Group::kFloating},
    {"uint2", 2, Group::kUnsigned},
    {"int2", 2, Group::kSigned},
    {"float6_e2m3fn", 6, Group::kFloating},
    {"float6_e3m2fn", 6, Group::kFloating},
}};

const Facts& facts(DType dtype) { return kFacts[static_cast<std::size_t>(dtype)]; }

struct Alias {
  std::string_view name;
  DType dtype;
};

constexpr std::array<Alias, 11> kAliases = {{
    {"float", DType::kFloat32},
    {"double", DType::kFloat64},
    {"half", DType::kFloat16},
    {"long", DType::kInt64},
    {"int", DType::kInt32},
    {"short", DType::kInt16},
    {"cfloat", DType::kComplex64},
    {"cdouble", DType::kComplex128},
    {"quint8", DType::kUInt8},
    {"qint8", DType::kInt8},
    {"qint32", DType::kInt32},
}};

DType integer_of(int bits) {
  if (bits <= 8) return DType::kInt8;
  if (bits <= 16) return DType::kInt16;
  return bits <= 32 ? DType::kInt32 : DType::kInt64;
}

DType promote_integers(DType a, DType b) {
  const Facts& fa = facts(a);
  const Facts& fb = facts(b);
  if (fa.group == fb.group) return fa.bits >= fb.bits ? a : b;
  const Facts& with_sign = fa.group == Group::kSigned ? fa : fb;
  const Facts& without = fa.group == Group::kSigned ? fb : fa;
  // A signed type holds an unsigned one only when it is wider: int8 with uint8 is int16.
  if (with_sign.bits > without.bits) return integer_of(with_sign.bits);
  return integer_of(without.bits * 2);
}

DType promote_floating(DType a, DType b) {
  if (facts(a).bits == facts(b).bits) return DType::kFloat32;  // float16 with bfloat16
  return facts(a).bits > facts(b).bits ? a : b;
}

}  // namespace

std::string_view dtype_name(DType dtype) { return facts(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  if (name.substr(0, 6) == "torch.") name.remove_prefix(6);
  for (std::size_t i = 1; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) return static_cast<DType>(i);
  }
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return alias.dtype;
  }
  return std::nullopt;
}

int bit_width(DType dtype) { return facts(dtype).bits; }

std::int64_t byte_size(DType dtype, std::int64_t count) {
  const std::int64_t bits = bit_width(dtype);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, bits >= 8 ? bits / 8 : bits, &bytes))
    return std::numeric_limits<std::int64_t>::max();
  return bits >= 8 ? bytes : bytes / 8 + (bytes % 8 > 0 ? 1 : 0);
}

bool is_floating(DType dtype) { return facts(dtype).group == Group::kFloating; }
bool is_complex(DType dtype) { return facts(dtype).group == Group::kComplex; }
bool is_unsigned(DType dtype) { return facts(dtype).group == Group::kUnsigned; }

bool is_integer(DType dtype) {
  return facts(dtype).group == Group::kSigned || facts(dtype).group == Group::kUnsigned;
}

bool is_signed(DType dtype) {
  return facts(dtype).group == Group::kSigned || is_floating(dtype) || is_complex(dtype);
}

DType real_of(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

DType complex_of(DType dtype) {
  if (is_complex(dtype)) return dtype;
  return dtype == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_complex(a) || is_complex(b)) {
    const bool wide = real_of(a) == DType::kFloat64 || real_of(b) == DType::kFloat64;
    return wide ? DType::kComplex128 : DType::kComplex64;
  }
  if (is_floating(a) && is_floating(b)) return promote_floating(a, b);
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  if (a == DType::kBool) return b;
  if (b == DType::kBool) return a;
  return promote_integers(a, b);
}

std::int64_t integer_min(DType dtype) {
  if (!is_signed(dtype)) return 0;
  const int bits = bit_width(dtype);
  return bits == 64 ? std::numeric_limits<std::int64_t>::min() : -(std::int64_t{1} << (bits - 1));
}

std::int64_t integer_max(DType dtype) {
  const int bits = bit_width(dtype) - (is_signed(dtype) ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
}

}  // namespace sardonyx::base

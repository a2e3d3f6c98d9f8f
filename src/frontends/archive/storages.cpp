#include "frontends/archive/storages.h"

#include <array>
#include <utility>

namespace sardonyx::archive {

using base::DType;

std::optional<DType> dtype_of_storage(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, DType>, 23> kTypes = {{
      {"torch FloatStorage", DType::kFloat32},
      {"torch DoubleStorage", DType::kFloat64},
      {"torch HalfStorage", DType::kFloat16},
      {"torch BFloat16Storage", DType::kBFloat16},
      {"torch LongStorage", DType::kInt64},
      {"torch IntStorage", DType::kInt32},
      {"torch ShortStorage", DType::kInt16},
      {"torch CharStorage", DType::kInt8},
      {"torch ByteStorage", DType::kUInt8},
      {"torch BoolStorage", DType::kBool},
      {"torch UInt16Storage", DType::kUInt16},
      {"torch UInt32Storage", DType::kUInt32},
      {"torch UInt64Storage", DType::kUInt64},
      {"torch Float8_e4m3fnStorage", DType::kFloat8E4M3FN},
      {"torch Float8_e4m3fnuzStorage", DType::kFloat8E4M3FNUZ},
      {"torch Float8_e5m2Storage", DType::kFloat8E5M2},
      {"torch Float8_e5m2fnuzStorage", DType::kFloat8E5M2FNUZ},
      {"torch Float8_e8m0fnuStorage", DType::kFloat8E8M0},
      {"torch QInt8Storage", DType::kInt8},
      {"torch QUInt8Storage", DType::kUInt8},
      {"torch QInt32Storage", DType::kInt32},
      {"torch ComplexFloatStorage", DType::kComplex64},
      {"torch ComplexDoubleStorage", DType::kComplex128},
  }};
  for (const auto& [name, dtype] : kTypes) {
    if (name == type) return dtype;
  }
  return std::nullopt;
}

}  // namespace sardonyx::archive

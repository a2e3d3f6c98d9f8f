#include "frontends/pt2/enums.h"

#include <array>

#include "base/diagnostic.h"

namespace sardonyx::pt2 {
namespace {

using base::DType;

template <std::size_t N>
std::string name_of(const std::array<std::string_view, N>& names, std::int64_t number,
                    std::string_view what) {
  if (number < 1 || number >= static_cast<std::int64_t>(N))
    base::fail("SX1105", std::to_string(number) + " is no " + std::string(what));
  return std::string(names[static_cast<std::size_t>(number)]);
}

}  // namespace

DType dtype_of(std::int64_t number) {
  switch (number) {
    case 1:
      return DType::kUInt8;
    case 2:
      return DType::kInt8;
    case 3:
      return DType::kInt16;
    case 4:
      return DType::kInt32;
    case 5:
      return DType::kInt64;
    case 6:
      return DType::kFloat16;
    case 7:
      return DType::kFloat32;
    case 8:
      return DType::kFloat64;
    case 9:
      base::fail("SX1221", "the program holds tensors of type torch.complex32");
    case 10:
      return DType::kComplex64;
    case 11:
      return DType::kComplex128;
    case 12:
      return DType::kBool;
    case 13:
      return DType::kBFloat16;
    case 28:
      return DType::kUInt16;
    case 29:
      return DType::kFloat8E4M3FN;
    case 30:
      return DType::kFloat8E5M2;
    case 31:
      return DType::kFloat8E4M3FNUZ;
    case 32:
      return DType::kFloat8E5M2FNUZ;
    case 33:
      return DType::kFloat8E8M0;
    case 34:
      return DType::kUInt32;
    case 35:
      return DType::kUInt64;
    default:
      base::fail("SX1105", std::to_string(number) + " is no element type that PyTorch writes");
  }
}

std::string layout_of(std::int64_t number) {
  constexpr std::array<std::string_view, 8> kNames = {"",           "sparse_coo", "sparse_csr",
                                                      "sparse_csc", "sparse_bsr", "sparse_bsc",
                                                      "_mkldnn",    "strided"};
  return name_of(kNames, number, "layout");
}

std::string memory_format_of(std::int64_t number) {
  constexpr std::array<std::string_view, 5> kNames = {"", "contiguous_format", "channels_last",
                                                      "channels_last_3d", "preserve_format"};
  return name_of(kNames, number, "memory format");
}

}  // namespace sardonyx::pt2

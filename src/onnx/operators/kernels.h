// Which element types ONNX Runtime's CPU provider has kernels for. The table is generated.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "onnx/operators/operator.h"

namespace sardonyx::onnx {

struct KernelType {
  std::string_view parameter;  // of the schema: "T"
  DTypeSet dtypes;
};

// One kernel or several that differ in the types of one parameter, for the versions of the operator
// from `first` to `last`.
struct Kernel {
  Op op;
  std::int16_t first;
  std::int16_t last;  // kOpen: no later version is known
  std::uint16_t first_type;
  std::uint16_t type_count;

  static constexpr std::int16_t kOpen = 0x7fff;
};

// Sorted by operator.
std::span<const Kernel> cpu_kernels();
std::span<const KernelType> types_of(const Kernel& kernel);
// The kernels that serve the operator's version, which may be none: such an operator is a function
// that the runtime expands.
std::span<const Kernel> kernels_of(Op op);

}  // namespace sardonyx::onnx

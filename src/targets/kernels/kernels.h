// Which element types the kernels of a runtime take. Its tables are generated.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "onnx/operators/operator.h"

namespace sardonyx::targets {

using onnx::DTypeSet;
using onnx::Op;

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

  // ONNX Runtime takes a kernel without a last version for the first one only: it cannot know what
  // later versions will mean.
  bool serves(int since) const {
    if (since == first) return true;
    return last != kOpen && first < since && since <= last;
  }
};

// A release of a runtime: the newest opset that it loads, and its kernels, sorted by operator.
struct Release {
  std::string_view name;  // "1.31"
  std::int16_t opset;
  std::span<const Kernel> kernels;
  // Those of the CPU, which runs what a provider for an accelerator has no kernel for. Values are
  // copied there and back.
  std::span<const Kernel> on_cpu;

  bool is_accelerated() const { return !on_cpu.empty(); }
};

// Of ONNX Runtime, with the kernels of its CPU provider; oldest first.
std::span<const Release> onnxruntime_releases();
// The same of its providers for accelerators.
std::span<const Release> onnxruntime_cuda_releases();
std::span<const Release> onnxruntime_webgpu_releases();
// Of TensorRT, as its documentation lists them.
std::span<const Release> tensorrt_releases();
std::span<const KernelType> types_of(const Kernel& kernel);

}  // namespace sardonyx::targets

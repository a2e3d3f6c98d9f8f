#include "targets/onnxruntime/workarounds/own_kernels.h"

#include <algorithm>
#include <cstdint>

namespace sardonyx::targets {

bool has_own_kernel(const Lowering& onnx, onnx::Op op) {
  const std::int64_t opset = onnx.opset();
  const onnx::OperatorVersion* version = onnx::operator_of(op).at(opset);
  return version != nullptr &&
         std::ranges::any_of(onnx.target().kernels_of(op, opset), [version](const Kernel& kernel) {
           return kernel.serves(version->since);
         });
}

}  // namespace sardonyx::targets

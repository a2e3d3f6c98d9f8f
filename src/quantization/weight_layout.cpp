#include "quantization/weight_layout.h"

#include <cstring>
#include <span>

#include "base/dtype.h"
#include "onnx/graph/pieces.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::quantization {

std::vector<float> floats_of(const onnx::Tensor& tensor) {
  const onnx::Tensor held =
      onnx::derivation_of(tensor) != nullptr ? onnx::computed(tensor) : tensor;
  std::vector<float> result(static_cast<std::size_t>(held.element_count()));
  const auto pieces = onnx::pieces_of(held, base::DType::kFloat32);
  std::size_t at = 0;
  onnx::put_pieces(*pieces, [&](std::span<const std::byte> bytes, std::size_t) {
    std::memcpy(reinterpret_cast<std::byte*>(result.data()) + at, bytes.data(), bytes.size());
    at += bytes.size();
  });
  return result;
}

}  // namespace sardonyx::quantization

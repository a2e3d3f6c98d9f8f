#include "proto/writer/strided_copy.h"

#include <memory>
#include <span>

#include "base/mapped_file.h"
#include "onnx/graph/pieces.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::proto {

void put_data(const onnx::Tensor& tensor, Stream& stream) {
  if (tensor.element_count() == 0) return;
  if (const onnx::Derived* step = onnx::derivation_of(tensor)) {
    const onnx::Tensor& source = *tensor.recipe->source;
    if (const auto pieces = step->how->pieces(step->part, source))
      return stream.append_pieces(*pieces);
    step->how->put(step->part, source,
                   [&](std::span<const std::byte> piece) { stream.append(piece); });
  } else if (tensor.is_materialized() && tensor.contiguous()) {
    base::check_not_cut_short();
    stream.append_borrowed({tensor.data, static_cast<std::size_t>(tensor.byte_count())});
  } else {
    stream.append_pieces(*onnx::pieces_of(tensor));
  }
}

}  // namespace sardonyx::proto

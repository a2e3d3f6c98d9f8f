// Models that refer to the files of their weights.
#include <set>

#include "base/mapped_file.h"
#include "onnx/graph/recipe.h"
#include "passes/passes.h"
#include "proto/writer/write.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {

std::int64_t reference_external_weights(Model& model,
                                        const std::map<std::string, std::string>& files) {
  const std::int64_t smallest = proto::WriteOptions().size_threshold;
  const auto stays = [&](const onnx::Tensor& tensor) {
    if (tensor.data == nullptr || !tensor.contiguous() || !tensor.is_materialized() ||
        tensor.byte_count() < smallest)
      return false;
    const auto place = base::place_in_file(onnx::extent(tensor));
    return place && files.contains(place->path);
  };
  passes::reference_external_weights(model.internal(), stays);
  std::int64_t bytes = 0;
  std::set<const std::byte*> counted;  // tied weights once
  for (const onnx::ValueInfo* value : model.internal().initializers) {
    if (value->constant == nullptr || !onnx::has_uses(value) || !stays(*value->constant)) continue;
    if (counted.insert(value->constant->data).second) bytes += value->constant->byte_count();
  }
  return bytes;
}

}  // namespace sardonyx

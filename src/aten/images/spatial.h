// What operators on images have in common: numbers for each spatial axis, and batches.
#pragma once

#include <cstdint>
#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

// PyTorch lets one number stand for every spatial axis; `otherwise` does where none is given.
inline std::vector<std::int64_t> filled(std::vector<std::int64_t> values, std::size_t axes,
                                        std::int64_t otherwise = 1) {
  if (values.empty()) values.push_back(otherwise);
  if (values.size() == 1) values.resize(axes, values.front());
  return values;
}

// What `apply` makes of x [N, C, sizes...] of this rank: an input without a batch gets one for the
// time being.
template <class Apply>
onnx::Values batched(Emit& onnx, Value x, std::int64_t rank, const Apply& apply) {
  if (x.rank() == rank) return apply(x);
  onnx::Values results = apply(onnx.unsqueeze(x, {0}));
  for (Value& result : results) {
    if (result) result = onnx.squeeze(result, {0});
  }
  return results;
}

}  // namespace sardonyx::aten

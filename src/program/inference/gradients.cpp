// Results of operators of backward passes.
#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

// The gradient of `self`.
TensorTypes gradient_of_self(const Bound& call) {
  const Value& self = call.tensor("self");
  return {like(self, self.shape)};
}

TensorTypes gradient_of_size(const Bound& call) {
  return {like(call.self(), call.sizes("input_sizes"))};
}

constexpr ResultRow kRows[] = {
    {"avg_pool2d_backward avg_pool3d_backward max_pool2d_with_indices_backward "
     "max_pool3d_with_indices_backward glu_backward reflection_pad1d_backward "
     "reflection_pad2d_backward reflection_pad3d_backward replication_pad1d_backward "
     "replication_pad2d_backward replication_pad3d_backward",
     gradient_of_self},
    {"unfold_backward", gradient_of_size},
};

}  // namespace

std::span<const ResultRow> gradient_results() { return kRows; }

}  // namespace sardonyx::program

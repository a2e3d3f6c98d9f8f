// Rows of a table by index.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// padding_idx and the frequency scaling only matter to gradients.
Outputs embedding(const Call& call, Emit& onnx) {
  return {onnx.gather(call.tensor("weight"), call.tensor("indices"), {.axis = 0})};
}

constexpr Row kRows[] = {
    {"aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
     "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
     13, embedding},
};

}  // namespace

std::span<const Row> embedding_rows() { return kRows; }

}  // namespace sardonyx::aten

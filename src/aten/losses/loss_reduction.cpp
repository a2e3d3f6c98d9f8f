#include "aten/losses/loss_reduction.h"

#include <numeric>

#include "aten/reduction/reduction_axes.h"

namespace sardonyx::aten {

Outputs reduced_loss(const Call& call, Emit& onnx, Value losses) {
  const std::int64_t reduction = call.integer("reduction");
  if (reduction != 0 && losses.rank() > 0) {
    std::vector<std::int64_t> axes(static_cast<std::size_t>(losses.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    losses = reduction == 1 ? mean_over(onnx, losses, axes, false)
                            : onnx.reduce("ReduceSum", losses, axes, false);
  }
  return {cast_to_result(onnx, call, losses)};
}

}  // namespace sardonyx::aten

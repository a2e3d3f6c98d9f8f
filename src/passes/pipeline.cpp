// The passes in the order they run.
#include <algorithm>
#include <array>

#include "base/diagnostic.h"
#include "passes/passes.h"
#include "passes/rules.h"

namespace sardonyx::passes {
namespace {

constexpr bool kChangesWeights = true;

// clang-format off: one pass a line
constexpr std::array kPipeline = {
    Pass{"drop-identity", drop_identity},
    Pass{"reshape-weights", reshape_weights, kChangesWeights},
    Pass{"fold-weights", fold_weights, kChangesWeights},
    Pass{"fold-batch-norm", fold_batch_norm, kChangesWeights},
    Pass{"fold-channel-affine", fold_channel_affine, kChangesWeights},
    Pass{"fold-pad", fold_pad},
    Pass{"index-by-ranges", index_by_ranges},
    Pass{"unflatten-gemm", unflatten_gemm},
    Pass{"transpose-weights", transpose_weights, kChangesWeights},
    Pass{"split-slices", split_slices},
    Pass{"drop-unused-nodes", drop_unused_nodes},
};
// clang-format on

}  // namespace

std::vector<Pass> pipeline() { return {kPipeline.begin(), kPipeline.end()}; }

void tidy(onnx::Model& model, bool keep_weights) {
  if (!keep_weights) fold_weights(model);
  drop_unused_nodes(model);
}

std::vector<std::string> optimize(onnx::Model& model, std::string_view stop_after,
                                  bool keep_weights) {
  const auto last = std::find_if(kPipeline.begin(), kPipeline.end(),
                                 [&](const Pass& pass) { return pass.name == stop_after; });
  if (!stop_after.empty() && last == kPipeline.end()) {
    base::fail("SX1801", "there is no pass called " + std::string(stop_after));
  }
  std::vector<std::string> changed;
  for (auto pass = kPipeline.begin(); pass != kPipeline.end(); ++pass) {
    const bool skipped = keep_weights && pass->changes_weights;
    if (!skipped && pass->run(model)) changed.emplace_back(pass->name);
#ifndef NDEBUG
    onnx::verify(model);
#endif
    if (pass == last) break;
  }
  return changed;
}

}  // namespace sardonyx::passes

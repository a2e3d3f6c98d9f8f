// Quantization in OpenVINO.
#include <algorithm>

#include "targets/lowering.h"
#include "targets/openvino/tables.h"

namespace sardonyx::targets {
namespace {

bool has_scales(const Use& use) {
  return use.input(1).has_rank() && use.input(1).rank() > 0 && !use.input(1).dim(0).is(1);
}

bool is_of_any_size(Value x) {
  return !x.has_rank() ||
         !std::ranges::all_of(x.shape(), [](Expr size) { return size.is_constant(); });
}

bool scales_any_size(const Use& use) { return has_scales(use) && is_of_any_size(use.input(0)); }

constexpr Rule kRows[] = {
    {.name = "scales-along-an-axis",
     .op = Op::kQuantizeLinear,
     .reason = Reason::kWrong,
     .when = scales_any_size,
     .how = by_definition,
     .why = "where sizes are not known, each scale is taken for one of the last axis, or the model "
            "fails as it runs",
     .since = "2026.4.1"},
};

}  // namespace

Rules openvino_quantizer_rules() { return kRows; }

}  // namespace sardonyx::targets

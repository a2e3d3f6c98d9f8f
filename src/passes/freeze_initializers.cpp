// Before: inputs x, w (of which w has a value where callers give none); y = Conv(x, w)
// After:  input x; y = Conv(x, w) with w constant
// Exporters of before version 4 of the format's intermediate representation, and some of after it,
// list all weights among the inputs. Nothing can be folded into what callers may give, and runtimes
// prepare no weight that another may replace.
#include <algorithm>
#include <utility>
#include <vector>

#include "passes/passes.h"

namespace sardonyx::passes {
namespace {

using onnx::ValueInfo;

// A matrix or more: what runtimes lay out anew, and what rules fold into.
bool is_weight(const ValueInfo* value, const std::shared_ptr<const onnx::Tensor>& held) {
  return held != nullptr && base::is_floating(value->dtype) && held->dims.size() >= 2 &&
         !value->uses.empty();
}

bool is_overridable_weight(const ValueInfo* input) { return is_weight(input, input->initial); }
bool is_constant_weight(const ValueInfo* value) { return is_weight(value, value->constant); }

}  // namespace

std::int64_t count_overridable_weights(const onnx::Model& model) {
  return std::ranges::count_if(model.graph->inputs, is_overridable_weight);
}

bool lists_all_initializers(const onnx::Model& model) {
  // Version 3 of the format had no other way, and PyTorch before 1.5 kept it in version 4.
  constexpr std::int64_t kLastByHabit = 4;
  if (model.ir_version == 0 || model.ir_version > kLastByHabit) return false;
  return std::ranges::none_of(model.initializers, is_constant_weight) &&
         count_overridable_weights(model) > 0;
}

std::int64_t freeze_initializers(onnx::Model& model) {
  std::vector<ValueInfo*> kept;
  std::int64_t frozen = 0;
  for (ValueInfo* input : model.graph->inputs) {
    if (input->initial == nullptr) {
      kept.push_back(input);
      continue;
    }
    input->constant = std::exchange(input->initial, nullptr);
    input->has_rank = true;
    input->shape.assign(input->constant->dims.begin(), input->constant->dims.end());
    input->is_weight = base::is_floating(input->dtype) && input->constant->element_count() > 1;
    model.initializers.push_back(input);
    ++frozen;
  }
  model.graph->inputs = std::move(kept);
  return frozen;
}

}  // namespace sardonyx::passes

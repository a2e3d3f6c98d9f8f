// Scatters that combine elements in half precision.
#include <array>
#include <string>
#include <variant>
#include <vector>

#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

bool combines(const Use& use) {
  const std::string_view reduction = use.text("reduction", "none");
  return reduction != "none" && use.inputs.size() > 2;
}

std::optional<Values> in_single_precision(const Use& use, const Rule& rule) {
  onnx::Emit& onnx = use.onnx;
  const auto wide = [&](Value x) { return onnx.cast(x, DType::kFloat32); };
  const std::array inputs = {wide(use.input(0)), use.input(1), wide(use.input(2))};
  const Values found =
      use.onnx.without(rule, use, inputs, {use.attributes.begin(), use.attributes.end()});
  return Values{onnx.cast(found.front(), use.dtype())};
}

constexpr DTypeSet kHalf = onnx::dtype_bit(DType::kFloat16) | onnx::dtype_bit(DType::kBFloat16);

constexpr Rule kRows[] = {
    {.name = "half-scatter-of-elements",
     .op = Op::kScatterElements,
     .reason = Reason::kLacks,
     .types = kHalf,
     .when = combines,
     .how = in_single_precision,
     .why = "it combines neither float16 nor bfloat16, and says so when the model runs",
     .since = "1.31"},
    {.name = "half-scatter-of-slices",
     .op = Op::kScatterND,
     .reason = Reason::kLacks,
     .types = kHalf,
     .when = combines,
     .how = in_single_precision,
     .why = "it combines neither float16 nor bfloat16, and says so when the model runs",
     .since = "1.31"},
};

}  // namespace

Rules half_scatter_rules() { return kRows; }

}  // namespace sardonyx::targets

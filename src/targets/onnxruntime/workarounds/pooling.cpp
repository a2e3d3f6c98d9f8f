// Maxima and means over windows in ONNX Runtime.
#include <numeric>
#include <vector>

#include "onnx/definitions/images.h"
#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

std::optional<Values> mean(const Use& use, const Rule&) {
  return onnx::spelled_out_average_pool({use.onnx, use.inputs, use.attributes});
}

// A Pad that names its axes is left alone.
bool is_padded(const Use& use) {
  const onnx::Node* pad = use.input(0)->producer;
  return pad != nullptr && pad->is("Pad") && pad->input(3) == nullptr && use.input(0).has_rank();
}

// Some window would hold padding alone, were the Pad's amounts the pooling's own.
bool is_padded_widely(const Use& use) {
  const auto* kernel = use.integers("kernel_shape");
  if (kernel == nullptr || !is_padded(use)) return false;
  const auto amounts = Value(use.input(0)->producer->input(1)).ints();
  const auto* own = use.integers("pads");
  const std::size_t rank = kernel->size() + 2;
  if (!amounts || amounts->size() != 2 * rank) return false;
  for (std::size_t i = 0; i < 2 * kernel->size(); ++i) {
    const std::size_t axis = i % kernel->size();
    const std::int64_t amount = (*amounts)[i / kernel->size() * rank + 2 + axis];
    if (amount + (own == nullptr ? 0 : (*own)[i]) >= (*kernel)[axis]) return true;
  }
  return false;
}

// Before: MaxPool(Pad(x, pads, value))
// After:  MaxPool(Pad(x, pads, value, axes)); before opset 18, which has no axes,
//         MaxPool(Max(padded, padded)): the optimizer does not look through a Max.
// Likewise AveragePool.
std::optional<Values> kept_from_padding(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const onnx::Node* pad = use.input(0)->producer;
  Value x = use.input(0);
  if (onnx.opset() < 18) {
    x = onnx.max({x, x});
  } else {
    std::vector<std::int64_t> axes(static_cast<std::size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    x = onnx.pad(pad->input(0), pad->input(1), pad->input(2), onnx.ints(axes),
                 {.mode = pad->string_or("mode", "constant")});
  }
  return onnx.without(rule, use, std::vector{x}, {use.attributes.begin(), use.attributes.end()});
}

constexpr Rule kRewritten[] = {
    {.name = "maximum-of-padded",
     .op = Op::kMaxPool,
     .reason = Reason::kRewrites,
     .when = is_padded,
     .how = kept_from_padding,
     .why = "a Pad by zeros is moved into the MaxPool behind it, which pads by minus infinity",
     .since = "1.31",
     .until = "1.32"},
    {.name = "mean-of-widely-padded",
     .op = Op::kAveragePool,
     .reason = Reason::kFails,
     .when = is_padded_widely,
     .how = kept_from_padding,
     .why = "a Pad is moved into the AveragePool behind it, which refuses to pad by its window's "
            "size or more",
     .since = "1.31",
     .until = "1.32"},
};

constexpr Rule kLacking[] = {
    {.name = "mean-pooling-of-doubles",
     .op = Op::kAveragePool,
     .reason = Reason::kLacks,
     .types = onnx::dtype_bit(base::DType::kFloat64),
     .how = mean,
     .why = "there is no AveragePool of float64",
     .since = "1.31"},
};

}  // namespace

Rules padded_pooling_rules() { return kRewritten; }
Rules pooling_rules() { return kLacking; }

}  // namespace sardonyx::targets

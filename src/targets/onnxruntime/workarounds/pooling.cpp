// Maxima and means over windows in ONNX Runtime.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "onnx/definitions/images.h"
#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"
#include "targets/onnxruntime/workarounds/own_kernels.h"

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

constexpr DTypeSet kReals =
    onnx::dtype_bit(base::DType::kFloat16) | onnx::dtype_bit(base::DType::kBFloat16) |
    onnx::dtype_bit(base::DType::kFloat32) | onnx::dtype_bit(base::DType::kFloat64);
// Slices that stand for one MaxPool at most: more of them cost more than copies.
constexpr std::int64_t kMostSlices = 32;

// Whether there is a window less where the last one would not be whole.
bool has_whole_windows(const Use& use) {
  const auto* strides = use.integers("strides");
  return use.integer("ceil_mode", 0) == 0 || strides == nullptr ||
         std::ranges::all_of(*strides, [](std::int64_t stride) { return stride == 1; });
}

// The provider has MaxPool of older opsets alone, and the windows are as many as slices make.
bool is_maximum_of_slices(const Use& use) {
  const auto* kernel = use.integers("kernel_shape");
  return kernel != nullptr && !has_own_kernel(use.onnx, Op::kMaxPool) && use.outputs == 1 &&
         use.input(0).has_rank() && has_whole_windows(use) &&
         use.text("auto_pad", "NOTSET") == "NOTSET" &&
         std::accumulate(kernel->begin(), kernel->end(), std::int64_t{0}) <= kMostSlices;
}

// Before: MaxPool(x)
// After:  Max(Slice(x, 0), Slice(x, 1), ...) along one axis after the other: slices begin where an
//         element of the first window is, and step by its strides
std::optional<Values> maximum_of_slices(const Use& use, const Rule&) {
  Lowering& onnx = use.onnx;
  const auto& kernel = *use.integers("kernel_shape");
  const auto* pads = use.integers("pads");
  const auto* strides = use.integers("strides");
  const auto* dilations = use.integers("dilations");
  Value x = use.input(0);
  if (pads != nullptr && std::ranges::any_of(*pads, [](std::int64_t pad) { return pad != 0; })) {
    std::vector<std::int64_t> axes(kernel.size());
    std::iota(axes.begin(), axes.end(), std::int64_t{2});
    const Value lowest = onnx.scalar(-std::numeric_limits<double>::infinity(), x.dtype());
    x = onnx.pad(x, onnx.ints(*pads), lowest, onnx.ints(axes));
  }
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t stride = strides == nullptr ? 1 : (*strides)[i];
    const std::int64_t dilation = dilations == nullptr ? 1 : (*dilations)[i];
    const std::int64_t reach = (kernel[i] - 1) * dilation;
    const Value axis = onnx.ints({static_cast<std::int64_t>(i) + 2}), step = onnx.ints({stride});
    std::vector<Value> elements;
    for (std::int64_t first = 0; first <= reach; first += dilation) {
      const std::int64_t end =
          first == reach ? std::numeric_limits<std::int64_t>::max() : first - reach;
      elements.push_back(onnx.slice(x, onnx.ints({first}), onnx.ints({end}), axis, step));
    }
    x = elements.size() == 1 ? elements.front() : onnx.max(elements);
  }
  return Values{x};
}

constexpr Rule kOnCuda[] = {
    {.name = "maximum-of-slices",
     .op = Op::kMaxPool,
     .reason = Reason::kLacks,
     .types = kReals,
     .when = is_maximum_of_slices,
     .how = maximum_of_slices,
     .why =
         "the kernel is of opsets below 22, so that an image would be pooled on the CPU, between "
         "copies, where other operators ask for a newer opset",
     .since = "1.31, read in the list of its kernels"},
};

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

Rules cuda_pooling_rules() { return kOnCuda; }
Rules padded_pooling_rules() { return kRewritten; }
Rules pooling_rules() { return kLacking; }

}  // namespace sardonyx::targets

// Images in OpenVINO: resized, read at places, and seen through windows.
#include "onnx/definitions/images.h"

#include <algorithm>

#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/openvino/tables.h"

namespace sardonyx::targets {
namespace {

bool antialiases(const Use& use) { return use.integer("antialias", 0) != 0; }

std::optional<Values> by_filter(const Use& use, const Rule&) {
  return onnx::spelled_out_resize({use.onnx, use.inputs, use.attributes});
}

bool is_volume(const Use& use) { return use.input(0).has_rank() && use.input(0).rank() != 4; }

std::optional<Values> by_index(const Use& use, const Rule&) {
  return onnx::spelled_out_grid_sample({use.onnx, use.inputs, use.attributes});
}

bool is_padded(const Use& use) {
  const auto* pads = use.integers("pads");
  return pads != nullptr && std::ranges::any_of(*pads, [](std::int64_t pad) { return pad != 0; });
}

bool counts_padding_of_more(const Use& use) {
  return use.integer("ceil_mode", 0) != 0 && use.integer("count_include_pad", 0) != 0 &&
         is_padded(use);
}

std::optional<Values> mean_of_windows(const Use& use, const Rule&) {
  return onnx::spelled_out_average_pool({use.onnx, use.inputs, use.attributes});
}

// What a MaxPool that rounds its windows up does along one axis.
struct Axis {
  std::int64_t kernel, stride, dilation, before, after;
};

std::vector<Axis> axes_of(const Use& use) {
  const auto* kernels = use.integers("kernel_shape");
  const auto *strides = use.integers("strides"), *dilations = use.integers("dilations"),
             *pads = use.integers("pads");
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < kernels->size(); ++i)
    axes.push_back({(*kernels)[i], strides == nullptr ? 1 : (*strides)[i],
                    dilations == nullptr ? 1 : (*dilations)[i], pads == nullptr ? 0 : (*pads)[i],
                    pads == nullptr ? 0 : (*pads)[kernels->size() + i]});
  return axes;
}

// Whether a window may begin in the padding behind.
bool may_begin_behind(const Use& use) {
  if (use.integer("ceil_mode", 0) == 0 || use.node == nullptr || use.node->output() == nullptr ||
      !use.node->output()->has_rank || !use.input(0).has_rank())
    return false;
  const bool is_known = std::ranges::all_of(std::span(use.input(0).shape()).subspan(2),
                                            [](Expr size) { return size.is_constant(); });
  const bool is_explicit = use.text("auto_pad", "NOTSET") == "NOTSET";
  return !is_known && is_explicit && std::ranges::any_of(axes_of(use), [](const Axis& axis) {
    return axis.after > 0 || axis.stride > (axis.kernel - 1) * axis.dilation + 1;
  });
}

// Before: MaxPool<ceil_mode = 1>(x)
// After:  MaxPool(Pad(x, as far as the last window reaches, lowest))
std::optional<Values> padded_to_the_last(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const Value x = use.input(0);
  const std::vector<Axis> axes = axes_of(use);
  std::vector<Expr> before(static_cast<std::size_t>(x.rank()), Expr(0)), after = before;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    const Expr windows = use.node->output()->shape[i + 2];
    const Expr reach = (windows - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    const Expr size = x.shape()[i + 2];
    if (!windows.known() || !size.known()) return std::nullopt;
    before[i + 2] = axis.before;
    after[i + 2] = symbolic::max(Expr(0), reach - size - axis.before);
  }
  std::vector<Expr> pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  if (!std::ranges::all_of(pads, [&](Expr pad) { return onnx.can_size(pad); })) return std::nullopt;
  const Value lowest = onnx.scalar(-std::numeric_limits<double>::infinity(), x.dtype());
  const Value padded = onnx.pad(x, onnx.sizes(pads), lowest);
  std::vector<Attribute> attributes;
  for (const Attribute& attribute : use.attributes)
    if (attribute.name != "pads" && attribute.name != "ceil_mode") attributes.push_back(attribute);
  return onnx.without(rule, use, std::vector{padded}, std::move(attributes));
}

constexpr Rule kRows[] = {
    {.name = "resize-with-a-filter",
     .op = Op::kResize,
     .reason = Reason::kWrong,
     .when = antialiases,
     .how = by_filter,
     .why = "antialias is not heeded",
     .since = "2026.4.1"},
    {.name = "grid-sample-of-a-volume",
     .op = Op::kGridSample,
     .reason = Reason::kLacks,
     .when = is_volume,
     .how = by_index,
     .why = "GridSample takes images of two axes only",
     .since = "2026.4.1"},
    {.name = "mean-of-windows-beyond-the-padding",
     .op = Op::kAveragePool,
     .reason = Reason::kWrong,
     .when = counts_padding_of_more,
     .how = mean_of_windows,
     .why = "with ceil_mode and count_include_pad, elements beyond the padding are counted",
     .since = "2026.4.1"},
    {.name = "window-that-begins-in-the-padding",
     .op = Op::kMaxPool,
     .reason = Reason::kWrong,
     .when = may_begin_behind,
     .how = padded_to_the_last,
     .why = "with ceil_mode and sizes that are not known, a window that begins behind the input "
            "counts too",
     .since = "2026.4.1"},
};

}  // namespace

Rules openvino_image_rules() { return kRows; }

}  // namespace sardonyx::targets

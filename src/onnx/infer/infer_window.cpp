// Convolutions, poolings, resizing and sampling: operators over [batch, channels, space...].
#include <fmt/format.h>

#include <cmath>

#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

using std::int64_t;

// What the attributes say of each spatial axis, defaults filled.
struct Window {
  std::vector<Expr> kernel;
  std::vector<int64_t> strides, dilations, pads;  // pads: all begins, then all ends
  std::string auto_pad;
  bool ceil = false;
};

std::vector<int64_t> list_or(const Inference& node, std::string_view name, std::size_t count,
                             int64_t otherwise) {
  const auto* given = node.list(name);
  if (given == nullptr || given->empty()) return std::vector<int64_t>(count, otherwise);
  if (given->size() != count)
    node.fail(fmt::format("{} has {} entries where {} are needed", name, given->size(), count));
  return *given;
}

Window window_of(const Inference& node, std::size_t spatial, std::span<const Expr> weight_dims) {
  Window window;
  if (const auto* kernel = node.list("kernel_shape")) {
    window.kernel.assign(kernel->begin(), kernel->end());
    if (kernel->size() != spatial) node.fail("kernel_shape does not fit the rank");
  } else {
    window.kernel.assign(weight_dims.begin(), weight_dims.end());
  }
  window.kernel.resize(spatial);
  window.strides = list_or(node, "strides", spatial, 1);
  window.dilations = list_or(node, "dilations", spatial, 1);
  window.pads = list_or(node, "pads", 2 * spatial, 0);
  for (const int64_t stride : window.strides)
    if (stride < 1) node.fail("a stride is not positive");
  window.auto_pad = node.node().string_or("auto_pad", "NOTSET");
  window.ceil = node.integer("ceil_mode", 0) != 0;
  return window;
}

Expr windows_along(const Window& w, std::size_t axis, Expr size) {
  const int64_t stride = w.strides[axis];
  if (w.auto_pad == "SAME_UPPER" || w.auto_pad == "SAME_LOWER")
    return symbolic::ceil_div(size, stride);
  const std::size_t spatial = w.strides.size();
  const bool padded = w.auto_pad != "VALID";
  const int64_t begin = padded ? w.pads[axis] : 0, end = padded ? w.pads[axis + spatial] : 0;
  const Expr reach = (w.kernel[axis] - 1) * w.dilations[axis] + 1;
  const Expr room = size + begin + end - reach;
  if (!w.ceil) return symbolic::floor_div(room, stride) + 1;
  const Expr count = symbolic::ceil_div(room, stride) + 1;
  // A window that would start in the padding at the end does not count.
  if (count.is_constant() && size.is_constant() &&
      symbolic::certainly_less_equal(size + begin, (count - 1) * stride))
    return count - 1;
  return count;
}

Shape windows(const Window& w, const Shape& data, Expr channels) {
  Shape out{data[0], channels};
  for (std::size_t i = 0; i + 2 < data.size(); ++i) out.push_back(windows_along(w, i, data[i + 2]));
  return out;
}

void convolve(Inference& node, std::size_t data, std::size_t weight) {
  if (!node.has_rank(data) || !node.has_rank(weight)) return;
  const Shape& x = node.shape(data);
  const Shape& w = node.shape(weight);
  if (x.size() < 3 || w.size() != x.size()) node.fail("the ranks of data and weight do not fit");
  const Expr groups = node.integer("group", 1);
  if (x[1].is_constant() && w[1].is_constant() && !(x[1] == w[1] * groups))
    node.fail(fmt::format("{} channels do not fit the weight", x[1].value()));
  const Window window = window_of(node, x.size() - 2, std::span(w).subspan(2));
  node.set_shape(0, windows(window, x, w[0]));
}

void conv(Inference& node) { convolve(node, 0, 1); }
void qlinear_conv(Inference& node) { convolve(node, 0, 3); }

void conv_transpose(Inference& node) {
  if (!node.has_rank(0) || !node.has_rank(1)) return;
  const Shape& x = node.shape(0);
  const Shape& w = node.shape(1);
  if (x.size() < 3 || w.size() != x.size()) node.fail("the ranks of data and weight do not fit");
  const std::size_t spatial = x.size() - 2;
  const Window window = window_of(node, spatial, std::span(w).subspan(2));
  const auto extra = list_or(node, "output_padding", spatial, 0);
  Shape out{x[0], w[1] * node.integer("group", 1)};
  const auto* given = node.list("output_shape");
  for (std::size_t i = 0; i < spatial; ++i) {
    const Expr reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    if (given != nullptr && given->size() >= spatial)
      out.emplace_back((*given)[given->size() - spatial + i]);
    else if (window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER")
      out.push_back(x[i + 2] * window.strides[i]);
    else
      out.push_back((x[i + 2] - 1) * window.strides[i] + extra[i] + reach - window.pads[i] -
                    window.pads[i + spatial]);
  }
  node.set_shape(0, std::move(out));
}

void pool(Inference& node) {
  if (!node.has_rank(0)) return;
  const Shape& x = node.shape(0);
  if (x.size() < 3) node.fail("the data has no spatial axis");
  const Window window = window_of(node, x.size() - 2, {});
  const Shape out = windows(window, x, x[1]);
  node.set_shape(0, out);
  node.set_shape(1, out);
}

void global_pool(Inference& node) {
  if (!node.has_rank(0)) return;
  Shape out = node.shape(0);
  for (std::size_t i = 2; i < out.size(); ++i) out[i] = 1;
  node.set_shape(0, std::move(out));
}

void max_unpool(Inference& node) {
  if (!node.has_rank(0, 3)) return;
  if (node.has(2)) {
    const auto shape = node.contents(2);
    return shape ? node.set_shape(0, *shape) : node.set_rank(0, node.rank(0));
  }
  const Shape& x = node.shape(0);
  const Window window = window_of(node, x.size() - 2, {});
  Shape out{x[0], x[1]};
  for (std::size_t i = 0; i + 2 < x.size(); ++i)
    out.push_back((x[i + 2] - 1) * window.strides[i] + window.kernel[i] - window.pads[i] -
                  window.pads[i + x.size() - 2]);
  node.set_shape(0, std::move(out));
}

void deform_conv(Inference& node) { convolve(node, 0, 1); }

Expr scaled(Expr size, double scale) {
  if (size.is_constant())
    return static_cast<int64_t>(std::floor(static_cast<double>(size.value()) * scale));
  if (scale == std::floor(scale) && scale > 0 && scale < 1e6)
    return size * static_cast<int64_t>(scale);
  return {};
}

void resize(Inference& node) {
  if (!node.has_rank(0)) return;
  Shape out = node.shape(0);
  std::vector<std::size_t> axes;
  if (const auto* given = node.list("axes"); given != nullptr && !given->empty())
    axes = node.axes(*given, node.rank(0));
  else
    for (std::size_t i = 0; i < out.size(); ++i) axes.push_back(i);
  const auto unknown = [&] {
    for (const std::size_t axis : axes) out[axis] = Expr();
  };
  const bool stretched = node.node().string_or("keep_aspect_ratio_policy", "stretch") == "stretch";
  if (node.has(3)) {
    const auto sizes = node.contents(3);
    if (!sizes || sizes->size() != axes.size() || !stretched)
      unknown();
    else
      for (std::size_t i = 0; i < axes.size(); ++i) out[axes[i]] = (*sizes)[i];
  } else if (node.has(2)) {
    const auto& constant = node.node().input(2)->constant;
    const auto scales = constant == nullptr ? std::nullopt : constant->reals();
    if (!scales || scales->size() != axes.size())
      unknown();
    else
      for (std::size_t i = 0; i < axes.size(); ++i)
        out[axes[i]] = scaled(out[axes[i]], (*scales)[i]);
  }
  node.set_shape(0, std::move(out));
}

void grid_sample(Inference& node) {
  if (!node.has_rank(0, 3) || !node.has_rank(1, 3)) return;
  const Shape& grid = node.shape(1);
  Shape out{node.shape(0)[0], node.shape(0)[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  node.set_shape(0, std::move(out));
}

void affine_grid(Inference& node) {
  const auto size = node.contents(1);
  if (!size || size->size() < 4) return;
  Shape out{size->front()};
  out.insert(out.end(), size->begin() + 2, size->end());
  out.emplace_back(static_cast<int64_t>(size->size()) - 2);
  node.set_shape(0, std::move(out));
}

void roi_align(Inference& node) {
  if (!node.has_rank(0, 4) || !node.has_rank(1, 2)) return;
  node.set_shape(0, {node.shape(1)[0], node.shape(0)[1], node.integer("output_height", 1),
                     node.integer("output_width", 1)});
}

void max_roi_pool(Inference& node) {
  const auto* pooled = node.list("pooled_shape");
  if (!node.has_rank(0, 4) || !node.has_rank(1, 2) || pooled == nullptr || pooled->size() != 2)
    return;
  node.set_shape(0, {node.shape(1)[0], node.shape(0)[1], (*pooled)[0], (*pooled)[1]});
}

void col2im(Inference& node) {
  if (!node.has_rank(0, 3)) return;
  const auto image = node.contents(1), block = node.contents(2);
  if (!image || !block) return;
  Shape out{node.shape(0)[0],
            symbolic::exact_quotient(node.shape(0)[1], symbolic::product(*block))};
  out.insert(out.end(), image->begin(), image->end());
  node.set_shape(0, std::move(out));
}

constexpr InferenceRule kRules[] = {
    {Op::kConv, conv},
    {Op::kConvInteger, conv},
    {Op::kQLinearConv, qlinear_conv},
    {Op::kConvTranspose, conv_transpose},
    {Op::kDeformConv, deform_conv},
    {Op::kAveragePool, pool},
    {Op::kLpPool, pool},
    {Op::kMaxPool, pool},
    {Op::kGlobalAveragePool, global_pool},
    {Op::kGlobalLpPool, global_pool},
    {Op::kGlobalMaxPool, global_pool},
    {Op::kMaxUnpool, max_unpool},
    {Op::kResize, resize},
    {Op::kGridSample, grid_sample},
    {Op::kAffineGrid, affine_grid},
    {Op::kRoiAlign, roi_align},
    {Op::kMaxRoiPool, max_roi_pool},
    {Op::kCol2Im, col2im},
};

}  // namespace

std::span<const InferenceRule> window_rules() { return kRules; }

}  // namespace sardonyx::onnx

// Results of convolutions, pooling, padding and resampling.
#include <algorithm>

#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

// One number for all dimensions, or one for each.
Expr at(const Sizes& sizes, std::size_t i, Expr otherwise) {
  if (sizes.empty()) return otherwise;
  return sizes.size() == 1 ? sizes[0] : sizes.at(i);
}

Expr windows(Expr size, Expr before, Expr after, Expr dilation, Expr kernel, Expr stride) {
  return symbolic::floor_div(size + before + after - dilation * (kernel - 1) - 1, stride) + 1;
}

// "valid", "same"; empty where the padding is numbers.
std::string padding_name(const Bound& call) {
  const auto position = call.schema().find("padding");
  const std::string* text = position ? call.arguments()[*position].get<std::string>() : nullptr;
  return text ? *text : std::string();
}

Expr transposed_size(Expr size, Expr stride, Expr padding, Expr dilation, Expr kernel, Expr extra) {
  return (size - 1) * stride - padding * 2 + dilation * (kernel - 1) + extra + 1;
}

TensorTypes convolution_of(const Bound& call, bool transposed) {
  const Value& input = call.self();
  const Sizes& weight = call.tensor("weight").shape;
  const std::size_t spatial = weight.size() - 2;
  const bool batched = input.rank() == weight.size();
  if (!batched && input.rank() + 1 != weight.size()) call.refuse("its input has another rank");
  const std::string named = padding_name(call);
  const Sizes padding = named.empty() ? call.sizes("padding") : Sizes{};
  const Sizes stride = call.sizes("stride");
  const Sizes dilation = call.schema().find("dilation") ? call.sizes("dilation") : Sizes{};
  const Sizes extra = transposed ? call.sizes("output_padding") : Sizes{};
  Sizes shape;
  if (batched) shape.push_back(input.shape[0]);
  shape.push_back(transposed ? weight[1] * call.size("groups") : weight[0]);
  for (std::size_t i = 0; i < spatial; ++i) {
    const Expr size = input.shape[i + (batched ? 2 : 1)], kernel = weight[i + 2];
    const Expr step = at(stride, i, 1), pad = at(padding, i, 0), wide = at(dilation, i, 1);
    if (named == "same") {
      shape.push_back(size);
    } else {
      shape.push_back(transposed ? transposed_size(size, step, pad, wide, kernel, at(extra, i, 0))
                                 : windows(size, pad, pad, wide, kernel, step));
    }
  }
  return {like(input, std::move(shape))};
}

TensorTypes convolution(const Bound& call) { return convolution_of(call, call.flag("transposed")); }
TensorTypes transposed_convolution(const Bound& call) { return convolution_of(call, true); }

Expr pooled(Expr size, Expr pad, Expr wide, Expr kernel, Expr step, bool ceil) {
  const Expr span = size + pad * 2 - wide * (kernel - 1) - 1;
  if (!ceil) return symbolic::floor_div(span, step) + 1;
  const Expr count = symbolic::ceil_div(span, step) + 1;
  // The last window starts inside of the input, or of the padding before it.
  const Expr last = (count - 1) * step;
  if (count.is_constant() && size.is_constant() && pad.is_constant())
    return last.value() >= size.value() + pad.value() ? count - 1 : count;
  return symbolic::apply(
      symbolic::Kind::kIf,
      {symbolic::apply(symbolic::Kind::kLt, {last, size + pad}), count, count - 1});
}

TensorTypes pool(const Bound& call, std::size_t spatial) {
  const Value& input = call.self();
  Sizes shape = input.shape;
  const Sizes kernel = call.sizes("kernel_size"), stride = call.sizes("stride"),
              padding = call.sizes("padding");
  const Sizes dilation = call.schema().find("dilation") ? call.sizes("dilation") : Sizes{};
  if (shape.size() < spatial) call.refuse("its input has too few dimensions");
  for (std::size_t i = 0; i < spatial; ++i) {
    Expr& size = shape[shape.size() - spatial + i];
    const Expr wide = at(kernel, i, 1);
    size = pooled(size, at(padding, i, 0), at(dilation, i, 1), wide, at(stride, i, wide),
                  call.flag("ceil_mode"));
    if (!size.known()) size = call.fresh();
  }
  return {like(input, std::move(shape))};
}

std::size_t spatial_of(const Bound& call) {
  const std::string_view name = call.name();
  return name.find("1d") != name.npos ? 1 : name.find("2d") != name.npos ? 2 : 3;
}

TensorTypes pooling(const Bound& call) { return pool(call, spatial_of(call)); }

TensorTypes pooling_with_positions(const Bound& call) {
  TensorTypes results = pool(call, spatial_of(call));
  results.push_back({DType::kInt64, results.front().shape, {}});
  return results;
}

TensorTypes adaptive(const Bound& call) {
  const std::size_t spatial = spatial_of(call);
  Sizes shape = call.self().shape;
  const Sizes wanted = call.sizes("output_size");
  for (std::size_t i = 0; i < spatial; ++i) shape.at(shape.size() - spatial + i) = at(wanted, i, 1);
  TensorTypes results = {like(call.self(), std::move(shape))};
  if (call.name().find("max") != std::string_view::npos)
    results.push_back({DType::kInt64, results.front().shape, {}});
  return results;
}

// From the last dimension on: before, after, before, after, ...
TensorTypes padded(const Bound& call) {
  Sizes shape = call.self().shape;
  const Sizes pad = call.sizes(call.schema().find("pad") ? "pad" : "padding");
  for (std::size_t i = 0; i + 1 < pad.size(); i += 2) {
    Expr& size = shape.at(shape.size() - 1 - i / 2);
    size = size + pad[i] + pad[i + 1];
  }
  return {like(call.self(), std::move(shape))};
}

TensorTypes resampled(const Bound& call) {
  Sizes shape = call.self().shape;
  const std::size_t spatial = shape.size() - 2;
  if (call.has("output_size")) {
    const Sizes wanted = call.sizes("output_size");
    for (std::size_t i = 0; i < spatial; ++i) shape[2 + i] = at(wanted, i, 1);
    return {like(call.self(), std::move(shape))};
  }
  const auto position = call.schema().find("scale_factors");
  const List* factors = position ? call.arguments()[*position].get<List>() : nullptr;
  if (!factors || factors->size() != spatial) call.refuse("its scale factors are not known");
  for (std::size_t i = 0; i < spatial; ++i) {
    const double* factor = (*factors)[i].get<double>();
    if (!factor) call.refuse("its scale factors are not known");
    shape[2 + i] = call.scaled(shape[2 + i], *factor);
  }
  return {like(call.self(), std::move(shape))};
}

TensorTypes pixel_shuffle(const Bound& call) {
  Sizes shape = call.self().shape;
  const Expr factor = call.size("upscale_factor");
  const std::size_t last = shape.size() - 1;
  shape.at(last - 2) = symbolic::floor_div(shape[last - 2], factor * factor);
  shape[last - 1] = shape[last - 1] * factor;
  shape[last] = shape[last] * factor;
  return {like(call.self(), std::move(shape))};
}

TensorTypes pixel_unshuffle(const Bound& call) {
  Sizes shape = call.self().shape;
  const Expr factor = call.size("downscale_factor");
  const std::size_t last = shape.size() - 1;
  shape.at(last - 2) = shape[last - 2] * factor * factor;
  shape[last - 1] = symbolic::floor_div(shape[last - 1], factor);
  shape[last] = symbolic::floor_div(shape[last], factor);
  return {like(call.self(), std::move(shape))};
}

// (N, C, H, W) read at a grid of (N, H', W', 2)
TensorTypes grid_sampled(const Bound& call) {
  const Sizes& grid = call.tensor("grid").shape;
  Sizes shape = call.self().shape;
  for (std::size_t i = 2; i < shape.size(); ++i) shape[i] = grid.at(i - 1);
  return {like(call.self(), std::move(shape))};
}

// Windows as columns: (N, C, H, W) -> (N, C * window, windows)
TensorTypes columns_of_windows(const Bound& call) {
  Sizes shape = call.self().shape;
  const Sizes kernel = call.sizes("kernel_size"), dilation = call.sizes("dilation"),
              padding = call.sizes("padding"), stride = call.sizes("stride");
  if (shape.size() < 3) call.refuse("its input has too few dimensions");
  Expr count = 1, window = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    const Expr pad = at(padding, i, 0), wide = at(kernel, i, 1);
    count = count * windows(shape[shape.size() - 2 + i], pad, pad, at(dilation, i, 1), wide,
                            at(stride, i, 1));
    window = window * wide;
  }
  shape.pop_back();
  shape.back() = count;
  shape[shape.size() - 2] = shape[shape.size() - 2] * window;
  return {like(call.self(), std::move(shape))};
}

TensorTypes windows_of_columns(const Bound& call) {
  Sizes shape = call.self().shape;
  const Sizes kernel = call.sizes("kernel_size"), wanted = call.sizes("output_size");
  if (shape.size() < 2) call.refuse("its input has too few dimensions");
  shape.back() = at(wanted, 0, 1);
  Expr& channels = shape[shape.size() - 2];
  channels = symbolic::floor_div(channels, at(kernel, 0, 1) * at(kernel, 1, 1));
  shape.push_back(at(wanted, 1, 1));
  return {like(call.self(), std::move(shape))};
}

TensorTypes unpooled(const Bound& call) {
  Sizes shape = call.self().shape;
  const Sizes wanted = call.sizes("output_size");
  if (shape.size() < wanted.size()) call.refuse("its input has too few dimensions");
  std::copy(wanted.begin(), wanted.end(), shape.end() - static_cast<std::ptrdiff_t>(wanted.size()));
  return {like(call.self(), std::move(shape))};
}

// (time, batch, channels)
TensorTypes convolution_in_time(const Bound& call) {
  Sizes shape = call.self().shape;
  const Sizes& weight = call.tensor("weight").shape;
  shape.at(0) = shape.at(0) + call.size("pad") * 2 - weight.at(0) + 1;
  shape.at(2) = weight.at(2);
  return {like(call.self(), std::move(shape))};
}

// Where each pixel of (N, C, H, W) or (N, C, D, H, W) reads.
TensorTypes affine_grid(const Bound& call) {
  const Sizes size = call.sizes("size");
  Sizes shape = {size.at(0)};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.emplace_back(static_cast<std::int64_t>(size.size()) - 2);
  return {like(call.self(), std::move(shape))};
}

constexpr ResultRow kRows[] = {
    {"conv1d conv2d conv3d _convolution convolution _convolution_mode _slow_conv2d_forward "
     "slow_conv3d_forward",
     convolution},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", transposed_convolution},
    {"max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d", pooling},
    {"max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices",
     pooling_with_positions},
    {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
     "adaptive_max_pool2d adaptive_max_pool3d",
     adaptive},
    {"pad constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
     "replication_pad2d replication_pad3d",
     padded},
    {"upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d "
     "upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d _upsample_nearest_exact1d "
     "_upsample_nearest_exact2d _upsample_nearest_exact3d _upsample_bilinear2d_aa "
     "_upsample_bicubic2d_aa",
     resampled},
    {"pixel_shuffle", pixel_shuffle},
    {"pixel_unshuffle", pixel_unshuffle},
    {"grid_sampler grid_sampler_2d grid_sampler_3d", grid_sampled},
    {"im2col", columns_of_windows},
    {"col2im", windows_of_columns},
    {"max_unpool2d max_unpool3d", unpooled},
    {"conv_tbc", convolution_in_time},
    {"affine_grid_generator", affine_grid},
};

}  // namespace

std::span<const ResultRow> spatial_results() { return kRows; }

}  // namespace sardonyx::program

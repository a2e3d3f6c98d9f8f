// Convolutions by products of gathered windows.
#include "onnx/definitions/exact_convolution.h"
#include "onnx/definitions/images.h"
#include "onnx/definitions/lattice.h"
#include "onnx/definitions/parts.h"
#include "onnx/definitions/windows.h"

namespace sardonyx::onnx {
namespace {

// Nothing where the padding is to be found from the sizes.
std::optional<ConvolutionWindow> window_of(const Composite& call) {
  const Value x = call.input(0), weight = call.input(1);
  if (!x.has_rank() || x.rank() < 3 || !weight.has_rank() || weight.rank() != x.rank())
    return std::nullopt;
  const auto padding = padding_of(call, x.shape().size() - 2);
  if (!padding || !call.integers("output_shape").empty()) return std::nullopt;
  const std::size_t axes = x.shape().size() - 2;
  return ConvolutionWindow{.stride = call.integers("strides", axes, 1),
                           .dilation = call.integers("dilations", axes, 1),
                           .output_padding = call.integers("output_padding", axes, 0),
                           .before = padding->before,
                           .after = padding->after,
                           .groups = call.integer("group", 1)};
}

// Along the image's height or width.
struct Side {
  std::int64_t stride, pad, dilation;
  Expr kernel, count;
};

// Where the kernel's elements [kernel] of each window [count] lie without offsets.
Value resting(Emit& onnx, const Side& side, DType dtype) {
  const Value inside = onnx.mul(onnx.range(side.kernel), onnx.int_scalar(side.dilation));
  const Value start = onnx.sub(onnx.mul(onnx.range(side.count), onnx.int_scalar(side.stride)),
                               onnx.int_scalar(side.pad));
  return onnx.cast(onnx.add(onnx.unsqueeze(inside, {1}), start), dtype);
}

Side side_of(const ConvolutionWindow& window, Value x, Value weight, std::size_t i) {
  const auto axis = static_cast<std::int64_t>(i) + 2;
  const Expr size = x.dim(axis) + window.before[i] + window.after[i];
  return {window.stride[i], window.before[i], window.dilation[i], weight.dim(axis),
          window_count(size, weight.dim(axis), window.stride[i], window.dilation[i])};
}

}  // namespace

std::optional<Values> spelled_out_conv(const Composite& call) {
  const auto window = window_of(call);
  if (!window) return std::nullopt;
  return Values{convolved_exactly(call.onnx, call.input(0), call.input(1), call.input(2), *window)};
}

std::optional<Values> spelled_out_conv_transpose(const Composite& call) {
  const auto window = window_of(call);
  if (!window) return std::nullopt;
  return Values{transposed_convolved_exactly(call.onnx, call.input(0), call.input(1), call.input(2),
                                             *window)};
}

// The neighbors of each place that the kernel reads, then a product. Opset 19.
std::optional<Values> spelled_out_deform_conv(const Composite& call) {
  Emit& onnx = call.onnx;
  const auto window = window_of(call);
  const Value x = call.input(0), weight = call.input(1), bias = call.input(3);
  if (!window || x.rank() != 4) return std::nullopt;
  const Side rows = side_of(*window, x, weight, 0), columns = side_of(*window, x, weight, 1);
  const std::int64_t moved_groups = call.integer("offset_group", 1);
  const Expr batch = x.dim(0), kernel = rows.kernel * columns.kernel;
  const Expr parts = batch * moved_groups;
  const Expr depth = symbolic::floor_div(x.dim(1), moved_groups);
  // Channels of one offset group move together: they are images of their own.
  const Lattice lattice = lattice_of(onnx, onnx.reshape(x, {parts, depth, x.dim(2), x.dim(3)}));
  const Value offsets = onnx.reshape(
      call.input(2), {parts, rows.kernel, columns.kernel, 2, rows.count, columns.count});
  const auto moved = [&](std::int64_t which, Value rest) {
    return onnx.add(onnx.select(offsets, 3, which), rest);
  };
  // [parts, kernel rows, kernel columns, rows, columns]
  const Value y = moved(0, onnx.unsqueeze(resting(onnx, rows, x.dtype()), {1, 3}));
  const Value z = moved(1, onnx.unsqueeze(resting(onnx, columns, x.dtype()), {0, 2}));
  const Value image = onnx.unsqueeze(onnx.range(parts), {1, 2, 3, 4});
  Value read = interpolated(onnx, lattice, image, {linear_taps(onnx, y), linear_taps(onnx, z)});
  if (const Value mask = call.input(4))
    read = onnx.mul(read, onnx.reshape(mask, {parts, rows.kernel, columns.kernel, rows.count,
                                              columns.count, 1}));
  const Expr groups = window->groups, inputs = weight.dim(1);
  const Expr outputs = symbolic::floor_div(weight.dim(0), groups);
  const Value grouped = onnx.reshape(onnx.transpose(read, {0, 5, 1, 2, 3, 4}),
                                     {batch, groups, inputs * kernel, rows.count * columns.count});
  const Value weights = onnx.reshape(weight, {groups, outputs, inputs * kernel});
  const Value product = onnx.reshape(onnx.matmul(weights, grouped),
                                     {batch, weight.dim(0), rows.count, columns.count});
  return Values{bias ? onnx.add(product, onnx.unsqueeze(bias, {1, 2})) : product};
}

namespace {

// x * sigmoid(x), computed in float32.
Value silu(Emit& onnx, Value x) {
  const Value wide = onnx.cast(x, DType::kFloat32);
  return onnx.cast(onnx.mul(wide, onnx.sigmoid(wide)), x.dtype());
}

}  // namespace

// CausalConvWithState, opset 27: a depthwise convolution over the past and the input.
std::optional<Values> causal_convolution(const Composite& call) {
  const Value x = call.input(0), weight = call.input(1), past = call.input(3);
  if (!x || !weight || !x.has_rank() || !weight.has_rank() || x.rank() != 3 || weight.rank() != 3)
    return std::nullopt;
  const Expr channels = weight.dim(0), kernel = weight.dim(2), length = x.dim(2);
  if (!channels.is_constant() || !kernel.is_constant() || !x.dim(0).known() || !length.known())
    return std::nullopt;
  Emit& onnx = call.onnx;
  const Expr kept = kernel - 1;
  Value padded = x;
  if (!kept.is(0)) {
    const Value before =
        past ? past : onnx.full(Shape{x.dim(0), channels, kept}, onnx.zero(x.dtype()));
    padded = onnx.concat({before, x}, 2);
  }
  Value y = onnx.conv(padded, weight, call.input(2), {.group = channels.value()});
  const std::string activation = call.text("activation", "none");
  if (activation == "silu" || activation == "swish") y = silu(onnx, y);
  Values values = {y};
  // The last positions of what was convolved.
  if (call.outputs > 1) values.push_back(onnx.slice(padded, 2, length, length + kept));
  return values;
}

}  // namespace sardonyx::onnx

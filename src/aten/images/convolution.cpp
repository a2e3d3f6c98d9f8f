// Convolutions and transposed convolutions of one to three spatial axes.
#include "aten/images/convolution.h"

#include "aten/families.h"
#include "aten/images/spatial.h"

namespace sardonyx::aten {
namespace {

using Ints64 = std::vector<std::int64_t>;

// ONNX has the number of groups as an attribute, and no integers.
bool is_conv(DType dtype, const ConvolutionWindow& window) {
  return !base::is_integer(dtype) && window.groups.is_constant();
}

Outputs convolve(const Call& call, Emit& onnx, Value input, const ConvolutionWindow& window,
                 bool transposed) {
  const Value weight = call.tensor("weight"), bias = call.optional_tensor("bias");
  return batched(onnx, input, weight.rank(), [&](Value x) {
    return Outputs{convolved(onnx, x, weight, bias, window, transposed)};
  });
}

std::size_t spatial_axes(const Call& call) {
  return static_cast<std::size_t>(call.tensor("weight").rank() - 2);
}

ConvolutionWindow window_of(const Call& call) {
  const std::size_t axes = spatial_axes(call);
  const program::Schema& schema = *call.captured().schema;
  ConvolutionWindow window;
  window.stride = filled(call.integers("stride"), axes);
  window.dilation =
      schema.find("dilation") ? filled(call.integers("dilation"), axes) : Ints64(axes, 1);
  window.output_padding = schema.find("output_padding")
                              ? filled(call.integers("output_padding"), axes)
                              : Ints64(axes, 0);
  if (schema.find("groups")) window.groups = call.size("groups");
  return window;
}

Outputs convolution_forward(const Call& call, Emit& onnx, std::string_view input, bool transposed) {
  ConvolutionWindow window = window_of(call);
  window.before = window.after = filled(call.integers("padding"), spatial_axes(call));
  return convolve(call, onnx, call.tensor(input), window, transposed);
}

Outputs conv(const Call& call, Emit& onnx) {
  return convolution_forward(call, onnx, "input", false);
}

Outputs conv_self(const Call& call, Emit& onnx) {
  return convolution_forward(call, onnx, "self", false);
}

Outputs conv_transpose(const Call& call, Emit& onnx) {
  return convolution_forward(call, onnx, "input", true);
}

Outputs conv_transpose_self(const Call& call, Emit& onnx) {
  return convolution_forward(call, onnx, "self", true);
}

Outputs convolution(const Call& call, Emit& onnx) {
  return convolution_forward(call, onnx, "input", call.flag("transposed"));
}

// What padding="same" adds along a spatial axis. Where it is odd, the further one comes after.
Expr same_padding(const Call& call, const ConvolutionWindow& window, std::size_t axis) {
  const Expr kernel = call.tensor("weight").dim(static_cast<std::int64_t>(axis) + 2);
  return (kernel - 1) * window.dilation[axis];
}

// By kernels whose size is not known before the model runs.
Value padded_same(const Call& call, Emit& onnx, const ConvolutionWindow& window) {
  const Value x = call.tensor("input");
  const auto rank = static_cast<std::size_t>(x.rank()), axes = window.stride.size();
  std::vector<Expr> pads(2 * rank, Expr(0));
  for (std::size_t i = 0; i < axes; ++i) {
    const Expr total = same_padding(call, window, i), before = symbolic::floor_div(total, 2);
    pads[rank - axes + i] = before;
    pads[2 * rank - axes + i] = total - before;
  }
  return onnx.pad(x, onnx.sizes(pads), onnx.zero(x.dtype()));
}

// padding="same" or "valid".
Outputs conv_padding(const Call& call, Emit& onnx) {
  ConvolutionWindow window = window_of(call);
  const std::size_t axes = spatial_axes(call);
  window.before = window.after = Ints64(axes, 0);
  Value x = call.tensor("input");
  if (call.text("padding") == "same") {
    bool known = true;
    for (std::size_t i = 0; i < axes; ++i) {
      const Expr total = same_padding(call, window, i);
      known &= total.is_constant();
      if (!total.is_constant()) continue;
      window.before[i] = total.value() / 2;
      window.after[i] = total.value() - total.value() / 2;
    }
    if (!known) {
      x = padded_same(call, onnx, window);
      window.before = window.after = Ints64(axes, 0);
    }
  }
  return convolve(call, onnx, x, window, false);
}

// Time, batch, channel order; the kernel is [time, in, out].
Outputs conv_tbc(const Call& call, Emit& onnx) {
  const std::int64_t pad = call.integer("pad");
  const Value x = onnx.transpose(call.tensor("self"), {1, 2, 0});
  const Value weight = onnx.transpose(call.tensor("weight"), {2, 1, 0});
  const Value y = onnx.conv(x, weight, call.tensor("bias"), {.pads = {pad, pad}});
  return {onnx.transpose(y, {2, 0, 1})};
}

constexpr Row kRows[] = {
    {"aten::_conv_depthwise2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, "
     "SymInt[2] stride, SymInt[2] padding, SymInt[2] dilation) -> Tensor",
     conv_self},
    {"aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
     "padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool "
     "benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
     convolution},
    {"aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
     "SymInt[] padding, SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, "
     "bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor",
     convolution},
    {"aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str "
     "padding, SymInt[] dilation, SymInt groups) -> Tensor",
     conv_padding},
    {"aten::_slow_conv2d_forward(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, "
     "SymInt[2] stride, SymInt[2] padding) -> Tensor",
     conv_self},
    {"aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
     "padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
     conv},
    {"aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
     "str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
     conv_padding},
    {"aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
     "SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
     conv},
    {"aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, "
     "1], "
     "str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
     conv_padding},
    {"aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], "
     "SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
     conv},
    {"aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, "
     "1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
     conv_padding},
    {"aten::conv_depthwise3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, "
     "SymInt[3] stride, SymInt[3] padding, SymInt[3] dilation) -> Tensor",
     conv_self},
    {"aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", conv_tbc},
    {"aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
     "SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] "
     "dilation=[1]) "
     "-> Tensor",
     conv_transpose},
    {"aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] "
     "stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, "
     "SymInt[2] dilation=[1, 1]) -> Tensor",
     conv_transpose},
    {"aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] "
     "stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt "
     "groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor",
     conv_transpose},
    {"aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
     "padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> "
     "Tensor",
     convolution},
    {"aten::convolution_overrideable(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
     "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt "
     "groups) -> Tensor",
     convolution},
    {"aten::slow_conv3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, "
     "SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0]) -> Tensor",
     conv_self},
    {"aten::slow_conv3d_forward(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, "
     "SymInt[3] stride, SymInt[3] padding) -> Tensor",
     conv_self},
    {"aten::slow_conv_dilated2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? "
     "bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1]) -> "
     "Tensor",
     conv_self},
    {"aten::slow_conv_dilated3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? "
     "bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, "
     "1, 1]) -> Tensor",
     conv_self},
    {"aten::slow_conv_transpose2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? "
     "bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, "
     "0], "
     "SymInt[2] dilation=[1, 1]) -> Tensor",
     conv_transpose_self},
    {"aten::slow_conv_transpose3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? "
     "bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] "
     "output_padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1]) -> Tensor",
     conv_transpose_self},
    {"aten::thnn_conv2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, "
     "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0]) -> Tensor",
     conv_self},
};

}  // namespace

Value convolved(Emit& onnx, Value x, Value weight, Value bias, const ConvolutionWindow& window,
                bool transposed) {
  if (!is_conv(x.dtype(), window)) {
    return transposed ? onnx::transposed_convolved_exactly(onnx, x, weight, bias, window)
                      : onnx::convolved_exactly(onnx, x, weight, bias, window);
  }
  Ints64 pads = window.before;
  pads.insert(pads.end(), window.after.begin(), window.after.end());
  if (transposed) {
    return onnx.conv_transpose(x, weight, bias,
                               {.dilations = window.dilation,
                                .group = window.groups.value(),
                                .output_padding = window.output_padding,
                                .pads = pads,
                                .strides = window.stride});
  }
  return onnx.conv(x, weight, bias,
                   {.dilations = window.dilation,
                    .group = window.groups.value(),
                    .pads = pads,
                    .strides = window.stride});
}

std::span<const Row> convolution_rows() { return kRows; }

}  // namespace sardonyx::aten

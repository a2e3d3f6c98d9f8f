// Convolutions and transposed convolutions of one to three spatial axes.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using Ints64 = std::vector<std::int64_t>;

struct Window {
  Ints64 stride, padding, dilation, output_padding;
  std::int64_t groups = 1;
};

// PyTorch lets one number stand for every spatial axis.
Ints64 filled(Ints64 values, std::size_t axes) {
  if (values.size() == 1) values.resize(axes, values.front());
  return values;
}

// The same padding before and after every axis.
Ints64 both_sides(const Ints64& padding) {
  Ints64 pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

// Runs on a batch: an input without one gets it for the time being.
template <class Apply>
Value batched(Emit& onnx, Value input, std::int64_t rank, const Apply& apply) {
  if (input.rank() == rank) return apply(input);
  return onnx.squeeze(apply(onnx.unsqueeze(input, {0})), {0});
}

Value convolve(const Call& call, Emit& onnx, std::string_view input_name, const Window& window,
               const Ints64& pads, bool transposed) {
  const Value weight = call.tensor("weight"), bias = call.optional_tensor("bias");
  return batched(onnx, call.tensor(input_name), weight.rank(), [&](Value x) {
    if (transposed) {
      return onnx.conv_transpose(x, weight, bias,
                                 {.dilations = window.dilation,
                                  .group = window.groups,
                                  .output_padding = window.output_padding,
                                  .pads = pads,
                                  .strides = window.stride});
    }
    return onnx.conv(x, weight, bias,
                     {.dilations = window.dilation,
                      .group = window.groups,
                      .pads = pads,
                      .strides = window.stride});
  });
}

std::size_t spatial_axes(const Call& call) {
  return static_cast<std::size_t>(call.tensor("weight").rank() - 2);
}

Window window_of(const Call& call) {
  const std::size_t axes = spatial_axes(call);
  const program::Schema& schema = *call.captured().schema;
  Window window;
  window.stride = filled(call.integers("stride"), axes);
  window.dilation =
      schema.find("dilation") ? filled(call.integers("dilation"), axes) : Ints64(axes, 1);
  if (schema.find("output_padding")) {
    window.output_padding = filled(call.integers("output_padding"), axes);
  }
  if (schema.find("groups")) window.groups = call.integer("groups");
  return window;
}

Outputs convolution_forward(const Call& call, Emit& onnx, std::string_view input, bool transposed) {
  const Window window = window_of(call);
  const Ints64 padding = filled(call.integers("padding"), spatial_axes(call));
  return {convolve(call, onnx, input, window, both_sides(padding), transposed)};
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

// padding="same" or "valid". Where "same" needs an odd number, the further one comes after.
Outputs conv_padding(const Call& call, Emit& onnx) {
  const Window window = window_of(call);
  const std::size_t axes = spatial_axes(call);
  const Value weight = call.tensor("weight");
  Ints64 pads(2 * axes, 0);
  if (call.text("padding") == "same") {
    for (std::size_t i = 0; i < axes; ++i) {
      const Expr kernel = weight.dim(static_cast<std::int64_t>(i) + 2);
      if (!kernel.is_constant()) call.refuse("padding='same' with a kernel of unknown size");
      const std::int64_t total = window.dilation[i] * (kernel.value() - 1);
      pads[i] = total / 2;
      pads[axes + i] = total - total / 2;
    }
  }
  return {convolve(call, onnx, "input", window, pads, false)};
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
    {"aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
     "padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool "
     "benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
     13, convolution},
    {"aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
     "SymInt[] padding, SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, "
     "bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor",
     13, convolution},
    {"aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
     "padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
     13, conv},
    {"aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
     "str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
     13, conv_padding},
    {"aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
     "SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
     13, conv},
    {"aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, "
     "1], "
     "str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
     13, conv_padding},
    {"aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], "
     "SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
     13, conv},
    {"aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, "
     "1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
     13, conv_padding},
    {"aten::conv_depthwise3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, "
     "SymInt[3] stride, SymInt[3] padding, SymInt[3] dilation) -> Tensor",
     13, conv_self},
    {"aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", 13, conv_tbc},
    {"aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
     "SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] "
     "dilation=[1]) "
     "-> Tensor",
     13, conv_transpose},
    {"aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] "
     "stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, "
     "SymInt[2] dilation=[1, 1]) -> Tensor",
     13, conv_transpose},
    {"aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] "
     "stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt "
     "groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor",
     13, conv_transpose},
    {"aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
     "padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> "
     "Tensor",
     13, convolution},
    {"aten::slow_conv3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, "
     "SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0]) -> Tensor",
     13, conv_self},
    {"aten::slow_conv_dilated2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? "
     "bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1]) -> "
     "Tensor",
     13, conv_self},
    {"aten::slow_conv_transpose2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? "
     "bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, "
     "0], "
     "SymInt[2] dilation=[1, 1]) -> Tensor",
     13, conv_transpose_self},
    {"aten::thnn_conv2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, "
     "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0]) -> Tensor",
     13, conv_self},
};

}  // namespace

std::span<const Row> convolution_rows() { return kRows; }

}  // namespace sardonyx::aten

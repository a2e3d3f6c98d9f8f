// Sliding patches of images: im2col and col2im.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using Ints64 = std::vector<std::int64_t>;

Ints64 pair_of(const Call& call, std::string_view name) {
  Ints64 values = call.integers(name);
  if (values.size() == 1) values.resize(2, values.front());
  return values;
}

// Positions [kernel, windows] along one padded axis: where each kernel element of each window lies.
Value positions(Emit& onnx, Expr windows, std::int64_t kernel, std::int64_t dilation,
                std::int64_t stride) {
  const auto count = [&](Expr n) {
    return onnx.range(onnx.int_scalar(0), onnx.size(n), onnx.int_scalar(1));
  };
  const Value starts = onnx.mul(count(windows), onnx.int_scalar(stride));
  const Value inside = onnx.mul(count(kernel), onnx.int_scalar(dilation));
  return onnx.add(onnx.unsqueeze(inside, {1}), starts);
}

// [N, C, H, W] -> [N, C * kh * kw, windows]
Outputs im2col(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Ints64 kernel = pair_of(call, "kernel_size"), dilation = pair_of(call, "dilation");
  const Ints64 padding = pair_of(call, "padding"), stride = pair_of(call, "stride");
  Value x = self.rank() == 3 ? onnx.unsqueeze(self, {0}) : self;
  if (padding[0] != 0 || padding[1] != 0) {
    x = onnx.pad(x, onnx.ints({0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]}),
                 onnx.zero(x.dtype()));
  }
  const auto windows = [&](std::size_t i) {
    const Expr size = x.dim(2 + static_cast<std::int64_t>(i));
    const Expr last = size - (dilation[i] * (kernel[i] - 1) + 1);
    return symbolic::floor_div(last, stride[i]) + 1;
  };
  const auto along = [&](std::size_t i) {
    return positions(onnx, windows(i), kernel[i], dilation[i], stride[i]);
  };
  // [N, C, kh, oh, W], then [N, C, kh, oh, kw, ow]
  const Value rows = onnx.gather(x, along(0), {.axis = 2});
  const Value patches = onnx.gather(rows, along(1), {.axis = 4});
  return {onnx.reshape(onnx.transpose(patches, {0, 1, 2, 4, 3, 5}), call.result_shape())};
}

// Sums overlapping patches back into an image.
Outputs col2im(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value x = self.rank() == 2 ? onnx.unsqueeze(self, {0}) : self;
  const Ints64 kernel = pair_of(call, "kernel_size"), padding = pair_of(call, "padding");
  const Value image = onnx.col2im(x, onnx.sizes(call.sizes("output_size")), onnx.ints(kernel),
                                  {.dilations = pair_of(call, "dilation"),
                                   .pads = {padding[0], padding[1], padding[0], padding[1]},
                                   .strides = pair_of(call, "stride")});
  return {onnx.reshape(image, call.result_shape())};
}

constexpr Row kRows[] = {
    {"aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] "
     "padding, int[2] stride) -> Tensor",
     18, col2im},
    {"aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] "
     "stride) "
     "-> Tensor",
     13, im2col},
};

}  // namespace

std::span<const Row> patches_rows() { return kRows; }

}  // namespace sardonyx::aten

// Sliding patches of images: im2col and col2im.
#include "aten/families.h"
#include "onnx/definitions/windows.h"

namespace sardonyx::aten {
namespace {

using onnx::window_count;
using onnx::WindowAxis;
using onnx::windows_of;
using Ints64 = std::vector<std::int64_t>;

Ints64 pair_of(const Call& call, std::string_view name) {
  Ints64 values = call.integers(name);
  if (values.size() == 1) values.resize(2, values.front());
  return values;
}

// [N, C, H, W] -> [N, C * kh * kw, windows]
Outputs im2col(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  std::vector<Expr> kernel = call.sizes("kernel_size");
  if (kernel.size() == 1) kernel.push_back(kernel.front());
  const Ints64 dilation = pair_of(call, "dilation");
  const Ints64 padding = pair_of(call, "padding"), stride = pair_of(call, "stride");
  const Value x = self.rank() == 3 ? onnx.unsqueeze(self, {0}) : self;
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < 2; ++i) {
    const Expr size = x.dim(2 + static_cast<std::int64_t>(i)) + 2 * padding[i];
    axes.push_back({window_count(size, kernel[i], stride[i], dilation[i]), kernel[i], stride[i],
                    dilation[i], padding[i], padding[i]});
  }
  const Value patches = windows_of(onnx, x, axes, onnx.zero(x.dtype()));
  return {onnx.reshape(patches, call.result_shape())};
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
     col2im},
    {"aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] "
     "stride) "
     "-> Tensor",
     im2col},
};

}  // namespace

std::span<const Row> patches_rows() { return kRows; }

}  // namespace sardonyx::aten

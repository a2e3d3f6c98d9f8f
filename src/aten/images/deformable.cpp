// Convolutions whose kernel elements are moved by offsets.
#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/images/lattice.h"

namespace sardonyx::aten {
namespace {

// Along the image's height or width.
struct Side {
  std::int64_t stride, pad, dilation;
  Expr kernel, count;
};

struct DeformableWindow {
  Side rows, columns;
  std::int64_t groups, offset_groups;
};

DeformableWindow window_of(const Call& call) {
  const Value weight = call.tensor("weight");
  const Shape& result = call.result_shape();
  return {{call.integer("stride_h"), call.integer("pad_h"), call.integer("dilation_h"),
           weight.dim(2), result[2]},
          {call.integer("stride_w"), call.integer("pad_w"), call.integer("dilation_w"),
           weight.dim(3), result[3]},
          call.integer("groups"),
          call.integer("offset_groups")};
}

// Where the kernel's elements [kernel] of each window [count] lie without offsets.
Value resting(Emit& onnx, const Side& side, DType dtype) {
  const Value inside = onnx.mul(onnx.range(side.kernel), onnx.int_scalar(side.dilation));
  const Value start = onnx.sub(onnx.mul(onnx.range(side.count), onnx.int_scalar(side.stride)),
                               onnx.int_scalar(side.pad));
  return onnx.cast(onnx.add(onnx.unsqueeze(inside, {1}), start), dtype);
}

// DeformConv is there from opset 19 on. Before: gathered neighbours, then a product.
[[maybe_unused]] Value spelled_out(const Call& call, Emit& onnx, const DeformableWindow& w,
                                   Value mask) {
  const Value x = call.tensor("input"), weight = call.tensor("weight");
  const Expr batch = x.dim(0), kernel = w.rows.kernel * w.columns.kernel;
  const Expr parts = batch * w.offset_groups;
  const Expr depth = symbolic::floor_div(x.dim(1), w.offset_groups);
  const Expr places = w.rows.count * w.columns.count;
  // Channels of one offset group move together: they are images of their own.
  const Lattice lattice = lattice_of(onnx, onnx.reshape(x, {parts, depth, x.dim(2), x.dim(3)}));
  const Value offsets = onnx.reshape(call.tensor("offset"), {parts, w.rows.kernel, w.columns.kernel,
                                                             2, w.rows.count, w.columns.count});
  const auto moved = [&](std::int64_t which, Value rest) {
    return onnx.add(onnx.select(offsets, 3, which), rest);
  };
  // [parts, kernel rows, kernel columns, rows, columns]
  const Value y = moved(0, onnx.unsqueeze(resting(onnx, w.rows, x.dtype()), {1, 3}));
  const Value z = moved(1, onnx.unsqueeze(resting(onnx, w.columns, x.dtype()), {0, 2}));
  const Value image = onnx.unsqueeze(onnx.range(parts), {1, 2, 3, 4});
  Value read = interpolated(onnx, lattice, image, {linear_taps(onnx, y), linear_taps(onnx, z)});
  if (mask) {
    read = onnx.mul(read, onnx.reshape(mask, {parts, w.rows.kernel, w.columns.kernel, w.rows.count,
                                              w.columns.count, 1}));
  }
  const Value columns = onnx.transpose(read, {0, 5, 1, 2, 3, 4});
  const Expr inputs = weight.dim(1), outputs = symbolic::floor_div(weight.dim(0), w.groups);
  const Value grouped = onnx.reshape(columns, {batch, w.groups, inputs * kernel, places});
  const Value weights = onnx.reshape(weight, {w.groups, outputs, inputs * kernel});
  const Value product = onnx.reshape(onnx.matmul(weights, grouped), call.result_shape());
  return onnx.add(product, onnx.unsqueeze(call.tensor("bias"), {1, 2}));
}

Outputs deform_conv2d(const Call& call, Emit& onnx) {
  const DeformableWindow w = window_of(call);
  const Value mask = call.flag("use_mask") ? call.tensor("mask") : Value{};
  return {onnx.deform_conv(call.tensor("input"), call.tensor("weight"), call.tensor("offset"),
                           call.tensor("bias"), mask,
                           {.dilations = {w.rows.dilation, w.columns.dilation},
                            .group = w.groups,
                            .offset_group = w.offset_groups,
                            .pads = {w.rows.pad, w.columns.pad, w.rows.pad, w.columns.pad},
                            .strides = {w.rows.stride, w.columns.stride}})};
}

constexpr Row kRows[] = {
    {"torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor "
     "bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
     "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
     deform_conv2d},
};

}  // namespace

std::span<const Row> deformable_rows() { return kRows; }

}  // namespace sardonyx::aten

// Convolutions whose kernel elements are moved by offsets.
#include <vector>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Outputs deform_conv2d(const Call& call, Emit& onnx) {
  const auto pair = [&](std::string_view rows, std::string_view columns) {
    return std::vector<std::int64_t>{call.integer(rows), call.integer(columns)};
  };
  const std::int64_t high = call.integer("pad_h"), wide = call.integer("pad_w");
  return {onnx.deform_conv(call.tensor("input"), call.tensor("weight"), call.tensor("offset"),
                           call.tensor("bias"),
                           call.flag("use_mask") ? call.tensor("mask") : Value{},
                           {.dilations = pair("dilation_h", "dilation_w"),
                            .group = call.integer("groups"),
                            .offset_group = call.integer("offset_groups"),
                            .pads = {high, wide, high, wide},
                            .strides = pair("stride_h", "stride_w")})};
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

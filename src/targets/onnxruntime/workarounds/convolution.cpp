// Convolutions that ONNX Runtime's CPU provider has not.
#include "onnx/definitions/images.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

std::optional<Values> conv(const Use& use, const Rule&) {
  return onnx::spelled_out_conv({use.onnx, use.inputs, use.attributes});
}

std::optional<Values> conv_transpose(const Use& use, const Rule&) {
  return onnx::spelled_out_conv_transpose({use.onnx, use.inputs, use.attributes});
}

bool pads_a_stride(const Use& use) {
  const std::vector<std::int64_t>* padding = use.integers("output_padding");
  const std::vector<std::int64_t>* strides = use.integers("strides");
  if (padding == nullptr) return false;
  for (std::size_t i = 0; i < padding->size(); ++i) {
    const std::int64_t stride = strides != nullptr && i < strides->size() ? (*strides)[i] : 1;
    if ((*padding)[i] >= stride) return true;
  }
  return false;
}

constexpr DTypeSet kDoubles = onnx::dtype_bit(base::DType::kFloat64);

constexpr Rule kRows[] = {
    {.name = "convolution-of-doubles",
     .op = Op::kConv,
     .reason = Reason::kLacks,
     .types = kDoubles,
     .how = conv,
     .why = "there is no Conv of float64",
     .since = "1.31"},
    {.name = "transposed-convolution-of-doubles",
     .op = Op::kConvTranspose,
     .reason = Reason::kLacks,
     .types = kDoubles,
     .how = conv_transpose,
     .why = "there is no ConvTranspose of float64",
     .since = "1.31"},
    {.name = "output-padding-of-a-stride",
     .op = Op::kConvTranspose,
     .reason = Reason::kFails,
     .when = pads_a_stride,
     .how = conv_transpose,
     .why = "an output_padding of the stride or more is refused as the model runs, though a "
            "dilated kernel reaches as far",
     .since = "1.31"},
};

}  // namespace

Rules convolution_rules() { return kRows; }

}  // namespace sardonyx::targets

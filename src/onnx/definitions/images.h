// The definitions of operators on images [N, C, sizes...].
#pragma once

#include <optional>

#include "onnx/definitions/definitions.h"

namespace sardonyx::onnx {

// Each gives nothing where it needs what is not known of the inputs, or where the attributes ask
// for what it does not have.
std::optional<Values> spelled_out_conv(const Composite& call);
std::optional<Values> spelled_out_conv_transpose(const Composite& call);
std::optional<Values> spelled_out_deform_conv(const Composite& call);
std::optional<Values> spelled_out_average_pool(const Composite& call);
std::optional<Values> spelled_out_lp_pool(const Composite& call);
std::optional<Values> spelled_out_resize(const Composite& call);
std::optional<Values> spelled_out_grid_sample(const Composite& call);
std::optional<Values> spelled_out_col2im(const Composite& call);
std::optional<Values> spelled_out_center_crop_pad(const Composite& call);
std::optional<Values> spelled_out_affine_grid(const Composite& call);

}  // namespace sardonyx::onnx

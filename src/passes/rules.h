// The rules of the pipeline, one file each.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

bool drop_identity(onnx::Model& model);
bool drop_unused_nodes(onnx::Model& model);
bool fold_batch_norm(onnx::Model& model);
bool fold_channel_affine(onnx::Model& model);
bool fold_pad(onnx::Model& model);
bool fold_weights(onnx::Model& model);
bool index_by_ranges(onnx::Model& model);
bool part_transposes(onnx::Model& model);
bool reshape_weights(onnx::Model& model);
bool transpose_weights(onnx::Model& model);
bool unflatten_gemm(onnx::Model& model);
bool spell_out_scales(onnx::Model& model);
bool split_slices(onnx::Model& model);

}  // namespace sardonyx::passes

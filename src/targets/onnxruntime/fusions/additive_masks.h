// Masks of truth values, as contrib operators of attention take them: added to the scores.
#pragma once

#include "onnx/graph/ir.h"
#include "rewriting/patch.h"

namespace sardonyx::targets {

class AdditiveMasks {
 public:
  // For an attention at `position`, whose scores have the type. What was made for another layer is
  // used again.
  AdditiveMasks(onnx::Model& model, rewriting::Patch& patch, const onnx::Node* position,
                onnx::DType dtype)
      : model_(model), patch_(patch), position_(position), dtype_(dtype) {}

  // 0 for true, the lowest number for false.
  onnx::ValueInfo* additive(onnx::ValueInfo* mask);
  // 1 for a row that has something to look at, 0 for one that has nothing: [batch, rows, 1] of
  // [batch, 1, rows, keys].
  onnx::ValueInfo* any(onnx::ValueInfo* mask);

 private:
  onnx::ValueInfo* real(double value);

  onnx::Model& model_;
  rewriting::Patch& patch_;
  const onnx::Node* position_;
  onnx::DType dtype_;
};

}  // namespace sardonyx::targets

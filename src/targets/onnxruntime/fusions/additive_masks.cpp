#include "targets/onnxruntime/fusions/additive_masks.h"

#include <limits>
#include <string>

#include "onnx/gen/op.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// The node of this operator that reads the mask first, and has been made for another layer.
ValueInfo* made_before(const ValueInfo* mask, Op op, const Node* position) {
  for (const onnx::Use& use : mask->uses)
    if (use.index == 0 && use.node->is(op) && use.node->graph == position->graph &&
        onnx::precedes(use.node, position))
      return use.node->output();
  return nullptr;
}

double lowest(onnx::DType dtype) {
  return dtype == onnx::DType::kFloat16 ? -65504.0
                                        : static_cast<double>(std::numeric_limits<float>::lowest());
}

}  // namespace

ValueInfo* AdditiveMasks::real(double value) {
  return model_.add_constant(onnx::Tensor::filled(dtype_, {}, value));
}

ValueInfo* AdditiveMasks::additive(ValueInfo* mask) {
  ValueInfo *const zero = real(0), *const least = real(lowest(dtype_));
  if (ValueInfo* before = made_before(mask, Op::kWhere, position_);
      before != nullptr && before->producer->input(1) == zero &&
      before->producer->input(2) == least)
    return before;
  return patch_.node(Op::kWhere, {mask, zero, least}, {}, mask->name + "_additive");
}

ValueInfo* AdditiveMasks::any(ValueInfo* mask) {
  const std::string name = mask->name + "_any";
  ValueInfo* cast = made_before(mask, Op::kCast, position_);
  if (cast != nullptr && cast->dtype == dtype_)
    if (const ValueInfo* most = made_before(cast, Op::kReduceMax, position_))
      if (ValueInfo* before = made_before(most, Op::kSqueeze, position_)) return before;
  if (patch_.failed()) return nullptr;
  cast = patch_.cast(mask, dtype_);
  ValueInfo* const most =
      patch_.node(Op::kReduceMax, {cast, patch_.ints({1, 3})}, {}, name + "_ReduceMax");
  return patch_.node(Op::kSqueeze, {most, patch_.ints({1})}, {}, name);
}

}  // namespace sardonyx::targets

#include "targets/opsets/downgrade_13.h"

#include <algorithm>
#include <string>
#include <utility>

#include "onnx/emit/emit_state.h"
#include "targets/opsets/newer.h"

namespace sardonyx::targets {
namespace {

using onnx::int_attribute;
using onnx::Tensor;
using Attributes = std::vector<Attribute>;

// An input that was an attribute.
void to_attribute(const Newer& use, std::size_t i, std::string name) {
  if (!use.has(i)) return;
  auto values = use.inputs[i].ints();
  if (!values) use.lacks(name + " that is computed");
  use.inputs.resize(i);
  use.attributes.push_back({std::move(name), *std::move(values), {}});
}

Changed axes_as_attribute(const Newer& use) {
  to_attribute(use, 1, "axes");
  return std::nullopt;
}

// An empty list means every axis, unless the node is to do nothing then.
Changed reduce_sum(const Newer& use) {
  const bool keeps = int_attribute(use.attributes, "noop_with_empty_axes", 0) != 0;
  if (keeps && (!use.has(1) || use.inputs[1].ints() == std::vector<std::int64_t>{}))
    return Values{use.onnx.identity(use.inputs[0])};
  use.drop("noop_with_empty_axes");
  to_attribute(use, 1, "axes");
  std::erase_if(use.attributes, [](const Attribute& each) {
    const auto* axes = std::get_if<std::vector<std::int64_t>>(&each.data);
    return each.name == "axes" && axes != nullptr && axes->empty();
  });
  return std::nullopt;
}

Changed split(const Newer& use) {
  to_attribute(use, 1, "split");
  return std::nullopt;
}

// Over all axes from `axis` on at once.
Changed softmax(const Newer& use) {
  const Value x = use.inputs[0];
  std::int64_t axis = int_attribute(use.attributes, "axis", -1);
  use.drop("axis");
  if (x.has_rank() && axis < 0) axis += x.rank();
  const auto is_one = [](Expr size) { return size.is(1); };
  if (axis != -1 && (!x.has_rank() || axis < 0 || axis >= x.rank())) use.lacks("such an axis");
  if (axis == -1 || std::all_of(x.shape().begin() + axis + 1, x.shape().end(), is_one)) {
    use.attributes.push_back({"axis", axis, {}});
    return std::nullopt;
  }
  const Value turned = use.onnx.swap_axes(x, axis, -1);
  Attributes last{{"axis", std::int64_t{-1}, {}}};
  const Value y = use.onnx.node("", use.op.name, std::span(&turned, 1), std::move(last), 1).front();
  return Values{use.onnx.swap_axes(y, axis, -1)};
}

// Opset 12: the ratio, and whether the model trains.
Changed dropout(const Newer& use) {
  if (use.onnx.opset() >= 12) return std::nullopt;
  if (use.has(2) && use.inputs[2].real() != 0.0) use.lacks("training_mode");
  if (use.has(1)) {
    const auto ratio = use.inputs[1].real();
    if (!ratio) use.lacks("ratio that is computed");
    use.attributes.push_back({"ratio", static_cast<float>(*ratio), {}});
  }
  use.inputs.resize(1);
  return std::nullopt;
}

// The region of interest and the scales have to be there.
Changed resize(const Newer& use) {
  if (use.onnx.opset() < 11) return std::nullopt;
  if (use.inputs.size() < 3) use.inputs.resize(3);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (!use.inputs[i]) use.inputs[i] = use.onnx.constant(Tensor::filled(DType::kFloat32, {0}, 0));
  return std::nullopt;
}

constexpr Form kForms[] = {
    {Op::kDropout, dropout},
    {Op::kHardmax, softmax},
    {Op::kLogSoftmax, softmax},
    {Op::kReduceSum, reduce_sum},
    {Op::kResize, resize},
    {Op::kSoftmax, softmax},
    {Op::kSplit, split},
    {Op::kSqueeze, axes_as_attribute},
    {Op::kUnsqueeze, axes_as_attribute},
};

}  // namespace

bool changes_before_13(const onnx::Operator& op) { return form_of(kForms, op.id) != nullptr; }

std::optional<Values> downgraded_before_13(Lowering& onnx, const onnx::Operator& op, Values& inputs,
                                           std::vector<Attribute>& attributes) {
  const Form* form = form_of(kForms, op.id);
  return form ? form->change({onnx, op, inputs, attributes, 13}) : std::nullopt;
}

}  // namespace sardonyx::targets

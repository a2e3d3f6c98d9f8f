#include "targets/forms/before_13.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/emit/emit_state.h"
#include "onnx/gen/op.h"

namespace sardonyx::targets {
namespace {

using onnx::int_attribute;
using onnx::Tensor;
using Attributes = std::vector<Attribute>;

// One use of an operator in the form of opset 13.
struct Newer {
  Lowering& onnx;
  const onnx::Operator& op;
  Values& inputs;
  Attributes& attributes;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i]; }
  [[noreturn]] void lacks(std::string_view what) const {
    base::fail_before_opset(13, "SX1504",
                            fmt::format("opset {} has no {} of {}", onnx.opset(), what, op.name));
  }
  // An input that was an attribute.
  void to_attribute(std::size_t i, std::string name) const {
    if (!has(i)) return;
    auto values = inputs[i].ints();
    if (!values) lacks(name + " that is computed");
    inputs.resize(i);
    attributes.push_back({std::move(name), *std::move(values), {}});
  }
};

using Result = std::optional<Values>;

Result axes_as_attribute(const Newer& use) {
  use.to_attribute(1, "axes");
  return std::nullopt;
}

// An empty list means every axis, unless the node is to do nothing then.
Result reduce_sum(const Newer& use) {
  const bool keeps = int_attribute(use.attributes, "noop_with_empty_axes", 0) != 0;
  if (keeps && (!use.has(1) || use.inputs[1].ints() == std::vector<std::int64_t>{}))
    return Values{use.onnx.identity(use.inputs[0])};
  std::erase_if(use.attributes,
                [](const Attribute& each) { return each.name == "noop_with_empty_axes"; });
  use.to_attribute(1, "axes");
  std::erase_if(use.attributes, [](const Attribute& each) {
    const auto* axes = std::get_if<std::vector<std::int64_t>>(&each.data);
    return each.name == "axes" && axes != nullptr && axes->empty();
  });
  return std::nullopt;
}

Result split(const Newer& use) {
  use.to_attribute(1, "split");
  return std::nullopt;
}

// Over all axes from `axis` on at once.
Result softmax(const Newer& use) {
  const Value x = use.inputs[0];
  std::int64_t axis = int_attribute(use.attributes, "axis", -1);
  std::erase_if(use.attributes, [](const Attribute& each) { return each.name == "axis"; });
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
Result dropout(const Newer& use) {
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
Result resize(const Newer& use) {
  if (use.onnx.opset() < 11) return std::nullopt;
  if (use.inputs.size() < 3) use.inputs.resize(3);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (!use.inputs[i]) use.inputs[i] = use.onnx.constant(Tensor::filled(DType::kFloat32, {0}, 0));
  return std::nullopt;
}

struct Form {
  Op op;
  Result (*change)(const Newer& use);
};

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

bool changes_form_before_13(const onnx::Operator& op) {
  return std::ranges::find(kForms, op.id, &Form::op) != std::end(kForms);
}

std::optional<Values> in_form_before_13(Lowering& onnx, const onnx::Operator& op, Values& inputs,
                                        std::vector<Attribute>& attributes) {
  const auto form = std::ranges::find(kForms, op.id, &Form::op);
  return form == std::end(kForms) ? std::nullopt : form->change({onnx, op, inputs, attributes});
}

}  // namespace sardonyx::targets

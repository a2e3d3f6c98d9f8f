#include "targets/opsets/downgrade_11.h"

#include <array>
#include <string>
#include <utility>

#include "onnx/emit/emit_state.h"
#include "targets/opsets/newer.h"

namespace sardonyx::targets {
namespace {

using onnx::int_attribute;
using onnx::Tensor;

std::string text(const Newer& use, std::string_view name, std::string otherwise) {
  const Attribute* found = onnx::find_attribute(use.attributes, name);
  return found == nullptr ? std::move(otherwise) : std::get<std::string>(found->data);
}

// An input that was an attribute before opset `since`.
std::vector<std::int64_t> ints(const Newer& use, std::size_t i, std::string_view what,
                               std::int64_t since) {
  auto values = use.inputs[i].ints();
  if (!values) use.lacks(fmt::format("{} that are computed", what), since);
  return *std::move(values);
}

// Bounds, where they are constants that a float32 holds; others are chosen by Max and Min.
Changed clip(const Newer& use) {
  const auto bound = [&](std::size_t i) {
    const auto number = use.has(i) ? use.inputs[i].real() : std::nullopt;
    return number && double{static_cast<float>(*number)} != *number ? std::nullopt : number;
  };
  const auto low = bound(1), high = bound(2);
  if ((use.has(1) && !low) || (use.has(2) && !high)) {
    Value y = use.inputs[0];
    if (use.has(1)) y = use.onnx.max({y, use.inputs[1]});
    if (use.has(2)) y = use.onnx.min({y, use.inputs[2]});
    return Values{y};
  }
  use.inputs.resize(1);
  if (low) use.attributes.push_back({"min", static_cast<float>(*low), {}});
  if (high) use.attributes.push_back({"max", static_cast<float>(*high), {}});
  return std::nullopt;
}

Changed pad(const Newer& use) {
  const auto pads = ints(use, 1, "pads", 11);
  const auto filling = use.has(2) ? use.inputs[2].real() : std::optional(0.0);
  if (!filling) use.lacks("filling that is computed");
  use.inputs.resize(1);
  use.attributes.push_back({"pads", pads, {}});
  if (*filling != 0) use.attributes.push_back({"value", static_cast<float>(*filling), {}});
  return std::nullopt;
}

// Opset 10: places that are computed, and steps.
Changed slice(const Newer& use) {
  if (use.onnx.opset() >= 10) return std::nullopt;
  const auto starts = ints(use, 1, "starts", 10), ends = ints(use, 2, "ends", 10);
  std::vector<std::int64_t> axes;
  if (use.has(3)) axes = ints(use, 3, "axes", 10);
  if (use.has(4))
    for (const std::int64_t step : ints(use, 4, "steps", 10))
      if (step != 1) use.lacks("steps", 10);
  use.inputs.resize(1);
  use.attributes.push_back({"starts", starts, {}});
  use.attributes.push_back({"ends", ends, {}});
  if (!axes.empty()) use.attributes.push_back({"axes", std::move(axes), {}});
  return std::nullopt;
}

Changed top_k(const Newer& use) {
  if (int_attribute(use.attributes, "largest", 1) == 0) use.lacks("least");
  use.drop("largest");
  use.drop("sorted");
  if (use.onnx.opset() >= 10) return std::nullopt;
  const auto count = ints(use, 1, "counts", 10);
  use.inputs.resize(1);
  use.attributes.push_back({"k", count.front(), {}});
  return std::nullopt;
}

// Places as Upsample has always had them.
Changed resize(const Newer& use) {
  const std::string mode = text(use, "mode", "nearest");
  const bool nearest = mode == "nearest";
  const bool places = text(use, "coordinate_transformation_mode", "half_pixel") == "asymmetric" &&
                      (!nearest || text(use, "nearest_mode", "round_prefer_floor") == "floor");
  if ((!nearest && mode != "linear") || !places) use.lacks("such places");
  if (!use.has(2)) use.lacks("sizes");
  use.inputs = {use.inputs[0], use.inputs[2]};
  use.attributes = {{"mode", mode, {}}};
  if (use.onnx.opset() >= 10) return std::nullopt;
  return use.onnx.node("", "Upsample", use.inputs, use.attributes, 1);
}

// By rows of columns there is no mode yet.
Changed depth_to_space(const Newer& use) {
  const bool by_columns = text(use, "mode", "DCR") == "CRD";
  use.drop("mode");
  if (!by_columns) return std::nullopt;
  const Value x = use.inputs[0];
  if (!x.has_rank() || x.rank() != 4) use.lacks("mode");
  const Expr size = int_attribute(use.attributes, "blocksize", 1);
  const Expr channels = symbolic::exact_quotient(x.dim(1), size * size);
  if (!channels.known()) use.lacks("mode");
  const Value apart = use.onnx.reshape(x, {x.dim(0), channels, size, size, x.dim(2), x.dim(3)});
  return Values{use.onnx.reshape(use.onnx.transpose(apart, {0, 1, 4, 2, 5, 3}),
                                 {x.dim(0), channels, x.dim(2) * size, x.dim(3) * size})};
}

// What is added has to be there.
Changed gemm(const Newer& use) {
  if (use.has(2)) return std::nullopt;
  use.inputs.resize(3);
  use.inputs[2] = use.onnx.constant(Tensor::filled(use.inputs[0].dtype(), {1}, 0));
  return std::nullopt;
}

// Of real numbers: neither is NaN, and neither is the greater one.
Changed equal(const Newer& use) {
  if (!base::is_floating(use.inputs[0].dtype())) return std::nullopt;
  Lowering& onnx = use.onnx;
  const Value a = use.inputs[0], b = use.inputs[1];
  const Value differs = onnx.or_(onnx.less(a, b), onnx.less(b, a));
  return Values{onnx.not_(onnx.or_(differs, onnx.or_(onnx.is_nan(a), onnx.is_nan(b))))};
}

constexpr Form kForms[] = {
    {Op::kClip, clip},   {Op::kDepthToSpace, depth_to_space},
    {Op::kEqual, equal}, {Op::kGemm, gemm},
    {Op::kPad, pad},     {Op::kResize, resize},
    {Op::kSlice, slice}, {Op::kTopK, top_k},
};

constexpr std::array kWithAxis = {
    Op::kArgMax,  Op::kArgMin,  Op::kConcat, Op::kFlatten,    Op::kGather,
    Op::kHardmax, Op::kSoftmax, Op::kSplit,  Op::kLogSoftmax, Op::kTopK,
};
constexpr std::array kWithAxes = {
    Op::kReduceL1,  Op::kReduceL2,   Op::kReduceLogSum,    Op::kReduceLogSumExp, Op::kReduceMax,
    Op::kReduceMin, Op::kReduceMean, Op::kReduceProd,      Op::kReduceSum,       Op::kSqueeze,
    Op::kSlice,     Op::kUnsqueeze,  Op::kReduceSumSquare,
};

bool is_one_of(Op op, std::span<const Op> ops) { return std::ranges::find(ops, op) != ops.end(); }

// Axes count from the front.
void count_from_front(const Newer& use) {
  if (!use.inputs[0].has_rank()) return;
  std::int64_t rank = use.inputs[0].rank();
  for (Attribute& each : use.attributes) {
    if (auto* axis = std::get_if<std::int64_t>(&each.data);
        axis != nullptr && each.name == "axis" && is_one_of(use.op.id, kWithAxis) && *axis < 0)
      *axis += rank;
    auto* axes = std::get_if<std::vector<std::int64_t>>(&each.data);
    if (axes == nullptr || each.name != "axes" || !is_one_of(use.op.id, kWithAxes)) continue;
    if (use.op.id == Op::kUnsqueeze) rank += static_cast<std::int64_t>(axes->size());
    for (std::int64_t& axis : *axes)
      if (axis < 0) axis += rank;
  }
}

}  // namespace

bool changes_form_before_11(const onnx::Operator& op) {
  return form_of(kForms, op.id) || is_one_of(op.id, kWithAxis) || is_one_of(op.id, kWithAxes);
}

std::optional<Values> in_form_before_11(Lowering& onnx, const onnx::Operator& op, Values& inputs,
                                        std::vector<Attribute>& attributes) {
  const Newer use{onnx, op, inputs, attributes, 11};
  if (const Form* form = form_of(kForms, op.id))
    if (auto values = form->change(use)) return values;
  count_from_front(use);
  return std::nullopt;
}

}  // namespace sardonyx::targets

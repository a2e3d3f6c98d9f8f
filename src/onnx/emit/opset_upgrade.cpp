#include "onnx/emit/opset_upgrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/emit/emit_state.h"
#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

using Attributes = std::vector<Attribute>;
using Result = std::optional<Values>;

// One use of an operator in its older form.
struct Older {
  Emit& onnx;
  const Operator& op;
  std::int64_t opset;
  Values& inputs;
  Attributes& attributes;
  std::size_t outputs;

  Value input(std::size_t i) const { return i < inputs.size() ? inputs[i] : Value(); }
  void set_input(std::size_t i, Value value) const {
    if (inputs.size() <= i) inputs.resize(i + 1);
    inputs[i] = value;
  }
  // The attribute, which the newest opset does not have.
  std::optional<Attribute> take(std::string_view name) const {
    const auto found = std::ranges::find(attributes, name, &Attribute::name);
    if (found == attributes.end()) return std::nullopt;
    Attribute taken = std::move(*found);
    attributes.erase(found);
    return taken;
  }
  std::optional<std::vector<std::int64_t>> take_ints(std::string_view name) const {
    const auto taken = take(name);
    const auto* ints = taken ? std::get_if<std::vector<std::int64_t>>(&taken->data) : nullptr;
    return ints == nullptr ? std::nullopt : std::optional(*ints);
  }
  std::optional<std::int64_t> take_int(std::string_view name) const {
    const auto taken = take(name);
    const auto* value = taken ? std::get_if<std::int64_t>(&taken->data) : nullptr;
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  std::optional<float> take_float(std::string_view name) const {
    const auto taken = take(name);
    const auto* value = taken ? std::get_if<float>(&taken->data) : nullptr;
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  std::string take_text(std::string_view name, std::string otherwise) const {
    const auto taken = take(name);
    const auto* value = taken ? std::get_if<std::string>(&taken->data) : nullptr;
    return value == nullptr ? otherwise : *value;
  }
  void put(std::string name, Attribute::Data data) const {
    attributes.push_back({std::move(name), std::move(data), {}});
  }
  [[noreturn]] void refuse(std::string_view what) const {
    base::fail("SX1504", fmt::format("{} of opset {} {}, which no newer opset can say", op.name,
                                     opset, what));
  }
};

// Opset 13 (Squeeze, Unsqueeze, ReduceSum) and 18: axes from an attribute to an input.
Result axes_as_input(const Older& o) {
  if (const auto axes = o.take_ints("axes")) o.set_input(1, o.onnx.ints(*axes));
  return std::nullopt;
}

// Opset 11: pads and the value they are filled with.
Result pad(const Older& o) {
  if (const auto pads = o.take_ints("pads")) o.set_input(1, o.onnx.ints(*pads));
  if (const auto value = o.take_float("value"); value && *value != 0)
    o.set_input(2, o.onnx.scalar_like(*value, o.inputs[0]));
  return std::nullopt;
}

// Opset 18: axes as an input; opset 28: of real numbers alone.
Result reduce_logarithms(const Older& o) {
  if (o.opset < 18) axes_as_input(o);
  const DType dtype = o.inputs[0].dtype();
  if (!base::is_integer(dtype)) return std::nullopt;
  Values inputs = o.inputs;
  inputs[0] = o.onnx.cast(inputs[0], DType::kFloat64);
  const std::int64_t keeps = o.take_int("keepdims").value_or(1),
                     noop = o.take_int("noop_with_empty_axes").value_or(0);
  const Value axes = o.input(1);
  const Value y = o.op.id == Op::kReduceLogSum
                      ? o.onnx.reduce_log_sum(inputs[0], axes,
                                              {.keepdims = keeps, .noop_with_empty_axes = noop})
                      : o.onnx.reduce_log_sum_exp(
                            inputs[0], axes, {.keepdims = keeps, .noop_with_empty_axes = noop});
  return Values{o.onnx.cast(y, dtype)};
}

// Opset 11: another name.
Result scatter(const Older& o) {
  if (o.inputs.size() < 3) return std::nullopt;
  return Values{o.onnx.scatter_elements(o.inputs[0], o.inputs[1], o.inputs[2],
                                        {.axis = o.take_int("axis").value_or(0)})};
}

// Opset 13: sizes; opset 18: the number of equal pieces.
Result split(const Older& o) {
  if (const auto sizes = o.take_ints("split")) o.set_input(1, o.onnx.ints(*sizes));
  if (!o.input(1)) o.put("num_outputs", static_cast<std::int64_t>(o.outputs));
  return std::nullopt;
}

// Opset 10: starts, ends and axes.
Result slice(const Older& o) {
  const auto starts = o.take_ints("starts"), ends = o.take_ints("ends");
  if (!starts || !ends) return std::nullopt;
  o.set_input(1, o.onnx.ints(*starts));
  o.set_input(2, o.onnx.ints(*ends));
  if (const auto axes = o.take_ints("axes")) o.set_input(3, o.onnx.ints(*axes));
  return std::nullopt;
}

// Opset 10: how many.
Result top_k(const Older& o) {
  if (const auto k = o.take_int("k")) o.set_input(1, o.onnx.ints({*k}));
  return std::nullopt;
}

// Opset 11: the bounds.
Result clip(const Older& o) {
  const auto low = o.take_float("min"), high = o.take_float("max");
  if (low) o.set_input(1, o.onnx.scalar_like(*low, o.inputs[0]));
  if (high) o.set_input(2, o.onnx.scalar_like(*high, o.inputs[0]));
  return std::nullopt;
}

// Opset 12: the ratio, and whether the model trains; before, it never did.
Result dropout(const Older& o) {
  if (const auto ratio = o.take_float("ratio"))
    o.set_input(1, o.onnx.scalar(*ratio, DType::kFloat32));
  return std::nullopt;
}

// Opset 13: along one axis; before, over all axes from `axis` on at once, 1 by default.
Result softmax(const Older& o) {
  const Value x = o.inputs[0];
  const std::int64_t axis = o.take_int("axis").value_or(1);
  // The last axis is so of any rank, as that of what is flattened below, which may have none.
  if (axis == -1 || (x.has_rank() && axis == x.rank() - 1)) {
    o.put("axis", std::int64_t{-1});
    return std::nullopt;
  }
  // Where one of these axes alone has more than one element, it is the one.
  if (x.has_rank() && axis >= -x.rank() && axis < x.rank()) {
    const std::int64_t first = axis < 0 ? axis + x.rank() : axis;
    const auto is_one = [&](std::int64_t at) { return x.dim(at).is(1); };
    std::int64_t only = first;
    while (only + 1 < x.rank() && is_one(only)) ++only;
    bool alone = true;
    for (std::int64_t at = only + 1; at < x.rank(); ++at) alone = alone && is_one(at);
    if (alone) {
      o.put("axis", only);
      return std::nullopt;
    }
  }
  const Value flat = o.onnx.flatten(x, {.axis = axis});
  Attributes last{{"axis", std::int64_t{-1}, {}}};
  const Value y = o.onnx.node("", o.op.name, {&flat, 1}, std::move(last), 1).front();
  return Values{o.onnx.Operators::reshape(y, o.onnx.Operators::shape(x))};
}

// Opset 10: Resize, which takes other places by default.
Result upsample(const Older& o) {
  Value scales = o.input(1);
  if (const auto given = o.take("scales")) {
    const auto* floats = std::get_if<std::vector<float>>(&given->data);
    if (floats != nullptr)
      scales = o.onnx.constant(Tensor::of_bytes(DType::kFloat32,
                                                {static_cast<std::int64_t>(floats->size())},
                                                std::as_bytes(std::span(*floats))));
  }
  const std::string mode = o.take_text("mode", "nearest");
  return Values{o.onnx.resize(o.inputs[0], {}, scales, {},
                              {.coordinate_transformation_mode = "asymmetric",
                               .mode = mode == "bilinear" ? "linear" : mode,
                               .nearest_mode = "floor"})};
}

// Opset 11: a region of interest before the scales, and a choice of places.
Result resize(const Older& o) {
  if (o.opset >= 11) return std::nullopt;
  const std::string mode = o.take_text("mode", "nearest");
  return Values{o.onnx.resize(
      o.inputs[0], {}, o.input(1), {},
      {.coordinate_transformation_mode = "asymmetric", .mode = mode, .nearest_mode = "floor"})};
}

// Opset 9: always by channel; opset 14: outputs of training, which nothing could say before.
Result batch_normalization(const Older& o) {
  if (o.take_int("spatial").value_or(1) == 0) o.refuse("normalizes every element for itself");
  if (o.outputs > 1) o.refuse("hands out statistics of training");
  return std::nullopt;
}

// Opset 20: the axis from an attribute, 1 by default, to an input.
Result dft(const Older& o) {
  o.set_input(2, o.onnx.int_scalar(o.take_int("axis").value_or(1)));
  return std::nullopt;
}

// Opset 20: other names of the modes.
Result grid_sample(const Older& o) {
  const std::string mode = o.take_text("mode", "bilinear");
  o.put("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? std::string("cubic") : mode);
  return std::nullopt;
}

// Opset 16: regions were not shifted by half a pixel.
Result roi_align(const Older& o) {
  o.put("coordinate_transformation_mode", std::string("output_half_pixel"));
  return std::nullopt;
}

// Opset 21: scale and bias of each channel; before, of each group.
Result group_normalization(const Older& o) {
  const std::int64_t groups = int_attribute(o.attributes, "num_groups", 1);
  const Value x = o.inputs[0];
  if (!x.has_rank() || x.rank() < 2 || !x.dim(1).known())
    o.refuse("has channels of unknown number");
  const Expr size = symbolic::floor_div(x.dim(1), Expr(groups));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (!o.input(i)) continue;
    const Value column = o.onnx.unsqueeze(o.input(i), {1});
    o.inputs[i] = o.onnx.flatten_to_1d(o.onnx.expand(column, std::array{Expr(groups), size}));
  }
  return std::nullopt;
}

// Opset 9: one sequence for all of a batch; before, one for each.
Result scan(const Older& o) { o.refuse("runs over batches of sequences"); }

struct Form {
  Op op;
  std::int64_t until;  // the first opset that has the newest version
  Result (*change)(const Older&);
};

constexpr Form kForms[] = {
    {Op::kBatchNormalization, 14, batch_normalization},
    {Op::kClip, 11, clip},
    {Op::kDFT, 20, dft},
    {Op::kDropout, 12, dropout},
    {Op::kGridSample, 20, grid_sample},
    {Op::kGroupNormalization, 21, group_normalization},
    {Op::kHardmax, 13, softmax},
    {Op::kLogSoftmax, 13, softmax},
    {Op::kPad, 11, pad},
    {Op::kReduceL1, 18, axes_as_input},
    {Op::kReduceL2, 18, axes_as_input},
    {Op::kReduceLogSum, 28, reduce_logarithms},
    {Op::kReduceLogSumExp, 28, reduce_logarithms},
    {Op::kReduceMax, 18, axes_as_input},
    {Op::kReduceMean, 18, axes_as_input},
    {Op::kReduceMin, 18, axes_as_input},
    {Op::kReduceProd, 18, axes_as_input},
    {Op::kReduceSum, 13, axes_as_input},
    {Op::kReduceSumSquare, 18, axes_as_input},
    {Op::kResize, 11, resize},
    {Op::kRoiAlign, 16, roi_align},
    {Op::kScan, 9, scan},
    {Op::kScatter, 11, scatter},
    {Op::kSlice, 10, slice},
    {Op::kSoftmax, 13, softmax},
    {Op::kSplit, 18, split},
    {Op::kSqueeze, 13, axes_as_input},
    {Op::kTopK, 10, top_k},
    {Op::kUnsqueeze, 13, axes_as_input},
    {Op::kUpsample, 10, upsample},
};

const Form* form_of(const Operator& op, std::int64_t opset) {
  const auto found = std::ranges::find(kForms, op.id, &Form::op);
  return found != std::end(kForms) && opset < found->until ? &*found : nullptr;
}

}  // namespace

bool has_older_form(const Operator& op, std::int64_t opset) {
  return form_of(op, opset) != nullptr;
}

Result in_newest_form(Emit& onnx, const Operator& op, std::int64_t opset, Values& inputs,
                      Attributes& attributes, std::size_t outputs) {
  const Form* form = form_of(op, opset);
  // Missing inputs are found by the check that follows; those of Scan may be.
  if (form == nullptr || inputs.empty() || (!inputs[0] && op.id != Op::kScan)) return std::nullopt;
  return form->change({onnx, op, opset, inputs, attributes, outputs});
}

}  // namespace sardonyx::onnx

#include "targets/opsets/downgrade.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/diagnostic.h"
#include "onnx/definitions/computed_axes.h"
#include "onnx/definitions/definitions.h"
#include "onnx/definitions/images.h"
#include "onnx/definitions/pooling.h"
#include "onnx/definitions/scatters.h"
#include "onnx/emit/emit_state.h"
#include "onnx/gen/op.h"
#include "targets/opsets/downgrade_11.h"
#include "targets/opsets/downgrade_13.h"

namespace sardonyx::targets {
namespace {

using onnx::find_attribute;
using onnx::int_attribute;
using onnx::ints_attribute;
using onnx::Operator;
using onnx::Tensor;
using Attributes = std::vector<Attribute>;

void drop(Attributes& attributes, std::string_view name) {
  std::erase_if(attributes, [name](const Attribute& a) { return a.name == name; });
}

std::string text_attribute(const Attributes& attributes, std::string_view name,
                           std::string otherwise) {
  const Attribute* found = find_attribute(attributes, name);
  return found == nullptr ? std::move(otherwise) : std::get<std::string>(found->data);
}

[[noreturn]] void lacks(const Lowering& onnx, std::string_view what, int since) {
  base::fail_before_opset(since, "SX1504", fmt::format("opset {} has no {}", onnx.opset(), what));
}

// An input that became one where it was an attribute before; it must be constant.
std::vector<std::int64_t> constant_input(const Lowering& onnx, Values& inputs, std::size_t index,
                                         std::string_view what, int since) {
  const auto values = inputs[index].ints();
  if (!values) lacks(onnx, fmt::format("{} that are computed", what), since);
  inputs.resize(index);
  return *values;
}

// Opset 18: axes from an attribute to an input (ReduceSum: 13).
template <Op kOp>
std::optional<Values> reduce(Lowering& onnx, Values& inputs, Attributes& attributes) {
  const bool given = inputs.size() > 1 && inputs[1];
  if (given && onnx.opset() >= 13 && !inputs[1].ints())
    if (auto values = onnx::reduce_over_computed_axes({onnx, inputs, attributes}, kOp))
      return values;
  std::vector<std::int64_t> axes;
  if (given) axes = constant_input(onnx, inputs, 1, "reduced axes", 18);
  inputs.resize(1);
  if (axes.empty() && int_attribute(attributes, "noop_with_empty_axes", 0) != 0)
    lacks(onnx, "noop_with_empty_axes", 18);
  drop(attributes, "noop_with_empty_axes");
  // An empty list means every axis in both forms.
  if (!axes.empty()) attributes.push_back({"axes", std::move(axes), {}});
  return std::nullopt;
}

// Opset 18: pads of some axes only.
std::optional<Values> pad(Lowering& onnx, Values& inputs, Attributes&) {
  if (inputs.size() < 4 || !inputs[3]) return std::nullopt;
  const Value x = inputs[0];
  if (!inputs[3].ints()) {
    inputs[1] = onnx::pads_of_all_axes(onnx, inputs[1], inputs[3], x.rank());
    inputs.resize(3);
    return std::nullopt;
  }
  const auto axes = constant_input(onnx, inputs, 3, "padded axes", 18);
  const auto rank = static_cast<std::size_t>(x.rank());
  Values pieces(2 * rank, onnx.ints({0}));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i] < 0 ? axes[i] + x.rank() : axes[i]);
    if (axis >= rank) base::fail("SX1503", "Pad: an axis is out of range");
    pieces[axis] = onnx.gather(inputs[1], onnx.ints({static_cast<std::int64_t>(i)}));
    pieces[axis + rank] =
        onnx.gather(inputs[1], onnx.ints({static_cast<std::int64_t>(i + axes.size())}));
  }
  inputs[1] = onnx.concat(pieces, 0);
  return std::nullopt;
}

// Opset 18: sizes or scales of some axes only.
std::optional<Values> resize(Lowering& onnx, Values& inputs, Attributes& attributes) {
  if (int_attribute(attributes, "antialias", 0) != 0) {
    if (auto values = onnx::spelled_out_resize({onnx, inputs, attributes})) return values;
    lacks(onnx, "antialiased Resize", 18);
  }
  if (text_attribute(attributes, "keep_aspect_ratio_policy", "stretch") != "stretch")
    lacks(onnx, "keep_aspect_ratio_policy of Resize", 18);
  drop(attributes, "antialias");
  drop(attributes, "keep_aspect_ratio_policy");
  const auto* given = ints_attribute(attributes, "axes");
  if (given == nullptr) return std::nullopt;
  const std::vector<std::int64_t> axes = *given;
  drop(attributes, "axes");
  const Value x = inputs[0];
  const std::int64_t rank = x.rank();
  const auto axis_count = static_cast<std::int64_t>(axes.size());
  // Those of the axes in `some`, from `first` on, among those of all axes.
  const auto pieces_of = [&](Value some, std::int64_t first, Values all) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      all[static_cast<std::size_t>(axes[i] < 0 ? axes[i] + rank : axes[i])] =
          onnx.gather(some, onnx.ints({first + static_cast<std::int64_t>(i)}));
    return all;
  };
  const auto spread = [&](Value some, const Values& all) {
    return onnx.concat(pieces_of(some, 0, all), 0);
  };
  if (inputs.size() > 1 && inputs[1]) {
    // A region of interest: where it begins, then where it ends, as parts of each axis.
    const auto bounds = [&](double whole, std::int64_t first) {
      const Value bound = onnx.constant(Tensor::filled(inputs[1].dtype(), {1}, whole));
      return onnx.concat(pieces_of(inputs[1], first, Values(static_cast<std::size_t>(rank), bound)),
                         0);
    };
    const bool is_empty = inputs[1].has_rank() && inputs[1].dim(0).is(0);
    if (!is_empty) inputs[1] = onnx.concat({{bounds(0, 0), bounds(1, axis_count)}}, 0);
  }
  if (inputs.size() > 2 && inputs[2]) {
    const Value one = onnx.constant(Tensor::filled(DType::kFloat32, {1}, 1));
    inputs[2] = spread(inputs[2], Values(static_cast<std::size_t>(rank), one));
  }
  if (inputs.size() > 3 && inputs[3]) {
    Values sizes;
    for (std::int64_t axis = 0; axis < rank; ++axis) sizes.push_back(onnx.dim_of(x, axis));
    inputs[3] = spread(inputs[3], sizes);
  }
  return std::nullopt;
}

// Opset 18: num_outputs, without which pieces are of equal size.
std::optional<Values> split(Lowering& onnx, Values& inputs, Attributes& attributes,
                            std::size_t outputs) {
  if (inputs.size() > 1 && inputs[1]) {
    drop(attributes, "num_outputs");
    return std::nullopt;
  }
  const auto count = static_cast<std::int64_t>(outputs);
  if (onnx.opset() >= 18) {
    if (find_attribute(attributes, "num_outputs") == nullptr)
      attributes.push_back({"num_outputs", count, {}});
    return std::nullopt;
  }
  drop(attributes, "num_outputs");
  // Runtimes refuse what cannot be cut so.
  if (!inputs[0].has_rank()) return std::nullopt;
  const Expr size = inputs[0].dim(int_attribute(attributes, "axis", 0));
  if (symbolic::exact_quotient(size, count).known()) return std::nullopt;
  const Expr chunk = symbolic::ceil_div(size, count);
  std::vector<Expr> sizes(outputs, chunk);
  sizes.back() = size - chunk * (count - 1);
  inputs.resize(1);
  inputs.push_back(onnx.sizes(sizes));
  return std::nullopt;
}

// Opset 15: a part of the shape.
std::optional<Values> shape(Lowering& onnx, Values& inputs, Attributes& attributes) {
  if (find_attribute(attributes, "start") == nullptr &&
      find_attribute(attributes, "end") == nullptr)
    return std::nullopt;
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const std::int64_t start = int_attribute(attributes, "start", 0);
  const std::int64_t end = int_attribute(attributes, "end", kEnd);
  if (start == 0 && inputs[0].has_rank() && end >= inputs[0].rank()) {
    attributes.clear();
    return std::nullopt;
  }
  const Value whole = onnx.shape(inputs[0]);
  if (!inputs[0].has_rank() || start < 0 || end < 0)
    return Values{onnx.slice(whole, onnx.ints({start}), onnx.ints({end}))};
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = start; axis < std::min(end, inputs[0].rank()); ++axis)
    axes.push_back(axis);
  return Values{onnx.gather(whole, onnx.ints(axes))};
}

// Opset 14: with allowzero a 0 is one; without it, it copies. No 0, no difference.
std::optional<Values> reshape(Lowering& onnx, Values& inputs, Attributes& attributes) {
  if (int_attribute(attributes, "allowzero", 0) == 0) return std::nullopt;
  const auto dims = inputs[1].ints();
  if (dims && std::ranges::find(*dims, 0) == dims->end()) {
    drop(attributes, "allowzero");
    return std::nullopt;
  }
  // A tensor without elements: there is nothing in it but its type.
  const auto& known = inputs[1]->contents;
  const bool empty = (dims && std::ranges::find(*dims, -1) == dims->end()) ||
                     std::ranges::any_of(known, [](Expr dim) { return dim.is(0); });
  if (!empty) {
    // Sizes that are only read may be 0 in some run, of which nothing here can say more than that
    // they stay as they are there.
    const bool is_read = !known.empty() && std::ranges::all_of(known, &Expr::known);
    if (is_read) drop(attributes, "allowzero");
    return std::nullopt;
  }
  const Value zero = onnx.zero(inputs[0].dtype());
  Tensor one = *zero.constant();
  one.dims = {1};
  return Values{onnx.constant_of_shape(inputs[1], {.value = std::move(one)})};
}

// Opset 20: other names of the modes, and volumes.
std::optional<Values> grid_sample(Lowering& onnx, Values& inputs, Attributes& attributes) {
  if (inputs[0].has_rank() && inputs[0].rank() != 4) {
    if (auto values = onnx::spelled_out_grid_sample({onnx, inputs, attributes})) return values;
    lacks(onnx, "GridSample of volumes", 20);
  }
  const std::string mode = text_attribute(attributes, "mode", "linear");
  drop(attributes, "mode");
  const std::string old = mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode;
  attributes.push_back({"mode", old, {}});
  return std::nullopt;
}

// Opset 20: the axis from an attribute to an input, and from 1 to -2 by default.
std::optional<Values> dft(Lowering& onnx, Values& inputs, Attributes& attributes) {
  std::int64_t axis = -2;
  if (inputs.size() > 2 && inputs[2] && !inputs[2].ints()) {
    const onnx::ComputedAxis computed(onnx, inputs[0], inputs[2], {.last = 1});
    const Value y =
        onnx.dft(computed.joined(), inputs[1], onnx.int_scalar(onnx::ComputedAxis::kPlace),
                 {.inverse = int_attribute(attributes, "inverse", 0),
                  .onesided = int_attribute(attributes, "onesided", 0)});
    return Values{computed.restored(y)};
  }
  if (inputs.size() > 2) axis = constant_input(onnx, inputs, 2, "axes of DFT", 20).at(0);
  if (axis < 0) axis += inputs[0].rank();
  while (!inputs.back()) inputs.pop_back();
  attributes.push_back({"axis", axis, {}});
  return std::nullopt;
}

bool dilates(const Attributes& attributes) {
  const auto* dilations = ints_attribute(attributes, "dilations");
  return dilations != nullptr && !std::ranges::all_of(*dilations, [](auto d) { return d == 1; });
}

// Opset 18: dilations.
std::optional<Values> norm_pool(Lowering& onnx, Values& inputs, Attributes& attributes) {
  if (dilates(attributes)) return onnx::spelled_out_lp_pool({onnx, inputs, attributes});
  drop(attributes, "dilations");
  return std::nullopt;
}

// By how much the last window of each axis reaches beyond the padding, which is below 0 where
// ceil_mode leaves out a window that would begin there. Nothing for sizes that are not known.
std::optional<std::vector<std::int64_t>> reach_of(Lowering& onnx, const Values& inputs,
                                                  const Attributes& attributes) {
  const onnx::Composite pooling{onnx, inputs, attributes};
  const auto axes = onnx::pooling_windows(pooling);
  if (!axes) return std::nullopt;
  const auto padding = onnx::padding_of(pooling, axes->size());
  std::vector<std::int64_t> reach;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const onnx::WindowAxis& axis = (*axes)[i];
    const Expr extent = (axis.kernel - 1) * axis.dilation + 1;
    const Expr beyond = (axis.count - 1) * axis.stride + extent - axis.before - padding->after[i] -
                        inputs[0].dim(static_cast<std::int64_t>(i) + 2);
    if (!beyond.is_constant()) return std::nullopt;
    reach.push_back(beyond.value());
  }
  return reach;
}

// Opset 22: a window that would begin in the padding at the end does not count. Before, inference
// counts it.
bool leaves_out_windows(const std::optional<std::vector<std::int64_t>>& reach) {
  return reach && std::ranges::any_of(*reach, [](std::int64_t beyond) { return beyond < 0; });
}

std::optional<Values> max_pool(Lowering& onnx, Values& inputs, Attributes& attributes) {
  if (int_attribute(attributes, "ceil_mode", 0) == 0) return std::nullopt;
  const auto reach = reach_of(onnx, inputs, attributes);
  if (!leaves_out_windows(reach)) return std::nullopt;
  std::vector<std::int64_t> pads =
      onnx::Composite{onnx, inputs, attributes}.integers("pads", 2 * reach->size());
  for (std::size_t i = 0; i < reach->size(); ++i)
    pads[reach->size() + i] += std::max<std::int64_t>((*reach)[i], 0);
  drop(attributes, "ceil_mode");
  drop(attributes, "pads");
  attributes.push_back({"pads", std::move(pads), {}});
  return std::nullopt;
}

// And opset 19: dilations.
std::optional<Values> average_pool(Lowering& onnx, Values& inputs, Attributes& attributes) {
  if (onnx.opset() < 19 && dilates(attributes))
    return onnx::spelled_out_average_pool({onnx, inputs, attributes});
  if (onnx.opset() < 19) drop(attributes, "dilations");
  if (int_attribute(attributes, "ceil_mode", 0) == 0) return std::nullopt;
  const auto reach = reach_of(onnx, inputs, attributes);
  if (!leaves_out_windows(reach)) return std::nullopt;
  // What one axis reaches into beyond the padding does not count in the mean.
  if (std::ranges::any_of(*reach, [](std::int64_t beyond) { return beyond > 0; }))
    return onnx::spelled_out_average_pool({onnx, inputs, attributes});
  drop(attributes, "ceil_mode");
  return std::nullopt;
}

// Opset 16: before, RoIs were not shifted by half a pixel.
std::optional<Values> roi_align(Lowering& onnx, Values&, Attributes& attributes) {
  const auto mode = text_attribute(attributes, "coordinate_transformation_mode", "half_pixel");
  if (mode != "output_half_pixel") lacks(onnx, "RoiAlign with half_pixel coordinates", 16);
  drop(attributes, "coordinate_transformation_mode");
  return std::nullopt;
}

// Opset 21: output_dtype; before, the zero point tells.
std::optional<Values> quantize(Lowering& onnx, Values& inputs, Attributes& attributes) {
  const auto dtype = static_cast<DType>(int_attribute(attributes, "output_dtype", 0));
  drop(attributes, "output_dtype");
  if (dtype == DType::kUndefined || (inputs.size() > 2 && inputs[2])) return std::nullopt;
  Tensor zeros = Tensor::filled_int(dtype, {}, 0);
  if (!inputs[1].is_scalar()) {
    std::vector<std::int64_t> dims;
    for (const Expr dim : inputs[1].shape()) {
      if (!dim.is_constant()) lacks(onnx, "output_dtype of QuantizeLinear", 21);
      dims.push_back(dim.value());
    }
    zeros = Tensor::filled_int(dtype, dims, 0);
  }
  inputs.resize(2);
  inputs.push_back(onnx.constant(std::move(zeros)));
  return std::nullopt;
}

// Opset 23: output_dtype; before, the scale tells.
std::optional<Values> dequantize(Lowering& onnx, Values& inputs, Attributes& attributes) {
  const auto dtype = static_cast<DType>(int_attribute(attributes, "output_dtype", 0));
  drop(attributes, "output_dtype");
  if (dtype == DType::kUndefined || inputs.size() < 2 || dtype == inputs[1].dtype())
    return std::nullopt;
  if (base::bit_width(dtype) > base::bit_width(inputs[1].dtype())) {
    inputs[1] = onnx.cast(inputs[1], dtype);
    return std::nullopt;
  }
  return Values{onnx.cast(onnx.node("", "DequantizeLinear", inputs, attributes, 1).front(), dtype)};
}

// Opset 16: sums and products; opset 18: extremes.
bool scatters(const Lowering& onnx, Attributes& attributes) {
  const std::string reduction = text_attribute(attributes, "reduction", "none");
  if (reduction == "none") drop(attributes, "reduction");
  return reduction == "none" || (onnx.opset() >= 16 && (reduction == "add" || reduction == "mul"));
}

std::optional<Values> scatter_elements(Lowering& onnx, Values& inputs, Attributes& attributes) {
  if (scatters(onnx, attributes)) return std::nullopt;
  return onnx::scatter_elements_by_slices({onnx, inputs, attributes});
}

std::optional<Values> scatter_nd(Lowering& onnx, Values& inputs, Attributes& attributes) {
  if (scatters(onnx, attributes)) return std::nullopt;
  return onnx::scatter_nd_by_indices({onnx, inputs, attributes});
}

// Opset 28: remainders of real numbers with the sign of the divisor.
std::optional<Values> mod(Lowering& onnx, Values& inputs, Attributes& attributes) {
  const Operator& op = onnx::operator_of(Op::kMod);
  return onnx::spelled_out({onnx, inputs, attributes}, op);
}

// Opset 18: what is no optional, or is not there at all.
std::optional<Values> optional_has_element(Lowering& onnx, Values& inputs, Attributes&) {
  const bool given = !inputs.empty() && inputs[0];
  if (given && inputs[0]->type_kind == onnx::TypeKind::kOptional) return std::nullopt;
  if (given && inputs[0]->type_kind == onnx::TypeKind::kOther) return std::nullopt;
  return Values{onnx.constant(Tensor::filled_int(onnx::DType::kBool, {}, given ? 1 : 0))};
}

std::optional<Values> optional_get_element(Lowering& onnx, Values& inputs, Attributes&) {
  if (inputs[0]->type_kind == onnx::TypeKind::kOptional ||
      inputs[0]->type_kind == onnx::TypeKind::kOther)
    return std::nullopt;
  return Values{onnx.identity(inputs[0])};
}

// Opset 14: the batch before the time. Outputs that nobody reads are there, too.
template <Op kOp>
std::optional<Values> recurrence(Lowering& onnx, Values& inputs, Attributes& attributes) {
  const bool is_batch_first = int_attribute(attributes, "layout", 0) != 0;
  drop(attributes, "layout");
  if (!is_batch_first) return std::nullopt;
  constexpr std::size_t kFirstState = 5;  // [batch, directions, hidden]
  inputs[0] = onnx.transpose(inputs[0], {1, 0, 2});
  for (std::size_t i = kFirstState; i < std::min(inputs.size(), kFirstState + 2); ++i)
    if (inputs[i]) inputs[i] = onnx.transpose(inputs[i], {1, 0, 2});
  const std::size_t outputs = kOp == Op::kLSTM ? 3 : 2;
  Values made = onnx.node("", onnx::operator_of(kOp).name, inputs, attributes, outputs);
  made[0] = onnx.transpose(made[0], {2, 0, 1, 3});
  for (std::size_t i = 1; i < made.size(); ++i) made[i] = onnx.transpose(made[i], {1, 0, 2});
  return made;
}

// Opset 14: training_mode, where the statistics are those of the batch. The variance is divided by
// the number of elements, and the momentum weighs what is given.
std::optional<Values> batch_normalization(Lowering& onnx, const Values& inputs,
                                          const Attributes& attributes, std::size_t outputs) {
  const onnx::Composite call{onnx, inputs, attributes, outputs};
  const Value x = inputs[0];
  const auto is_like_x = [x](Value each) { return each && each.dtype() == x.dtype(); };
  const bool is_exact = x.dtype() == DType::kFloat32 || x.dtype() == DType::kFloat64;
  if (call.integer("training_mode", 0) == 0 || inputs.size() != 5 || !is_exact ||
      !std::ranges::all_of(inputs, is_like_x) || !x.has_rank() || x.rank() < 2)
    return std::nullopt;
  std::vector<std::int64_t> axes{0}, after_channels;
  for (std::int64_t axis = 2; axis < x.rank(); ++axis) {
    axes.push_back(axis);
    after_channels.push_back(axis - 1);
  }
  const auto of_channels = [&](Value each) {
    return after_channels.empty() ? each : onnx.unsqueeze(each, after_channels);
  };
  const auto weighted = [&](Value each, float weight) {
    return onnx.mul(each, onnx.scalar_like(weight, each));
  };
  const Value mean = onnx.reduce("ReduceMean", x, axes, true);
  const Value centered = onnx.sub(x, mean);
  const Value variance = onnx.reduce("ReduceMean", onnx.mul(centered, centered), axes, true);
  const float epsilon = call.real("epsilon", 1e-5F), momentum = call.real("momentum", 0.9F);
  const Value deviation = onnx.sqrt(onnx.add(variance, onnx.scalar_like(epsilon, x)));
  const Value normalized = onnx.div(centered, deviation);
  Values made{onnx.add(onnx.mul(normalized, of_channels(inputs[1])), of_channels(inputs[2]))};
  for (std::size_t i = 1; i < std::min<std::size_t>(outputs, 3); ++i) {
    const Value batch = onnx.squeeze(i == 1 ? mean : variance, axes);
    made.push_back(onnx.add(weighted(inputs[i + 2], momentum), weighted(batch, 1.0F - momentum)));
  }
  return made;
}

struct Form {
  Op op;
  std::int64_t until;  // the first opset that has the newest version
  std::optional<Values> (*change)(Lowering& onnx, Values& inputs, Attributes& attributes);
};

constexpr Form kForms[] = {
    {Op::kAveragePool, 22, average_pool},
    {Op::kDFT, 20, dft},
    {Op::kDequantizeLinear, 23, dequantize},
    {Op::kGRU, 14, recurrence<Op::kGRU>},
    {Op::kGridSample, 20, grid_sample},
    {Op::kLSTM, 14, recurrence<Op::kLSTM>},
    {Op::kLpPool, 18, norm_pool},
    {Op::kMaxPool, 22, max_pool},
    {Op::kMod, 28, mod},
    {Op::kOptionalGetElement, 18, optional_get_element},
    {Op::kOptionalHasElement, 18, optional_has_element},
    {Op::kPad, 18, pad},
    {Op::kQuantizeLinear, 21, quantize},
    {Op::kRNN, 14, recurrence<Op::kRNN>},
    {Op::kReduceL1, 18, reduce<Op::kReduceL1>},
    {Op::kReduceL2, 18, reduce<Op::kReduceL2>},
    {Op::kReduceLogSum, 18, reduce<Op::kReduceLogSum>},
    {Op::kReduceLogSumExp, 18, reduce<Op::kReduceLogSumExp>},
    {Op::kReduceMax, 18, reduce<Op::kReduceMax>},
    {Op::kReduceMean, 18, reduce<Op::kReduceMean>},
    {Op::kReduceMin, 18, reduce<Op::kReduceMin>},
    {Op::kReduceProd, 18, reduce<Op::kReduceProd>},
    {Op::kReduceSumSquare, 18, reduce<Op::kReduceSumSquare>},
    {Op::kReshape, 14, reshape},
    {Op::kResize, 18, resize},
    {Op::kRoiAlign, 16, roi_align},
    {Op::kShape, 15, shape},
    {Op::kScatterElements, 18, scatter_elements},
    {Op::kScatterND, 18, scatter_nd},
};

const Form* form_of(const Operator& op, std::int64_t opset) {
  const auto found = std::ranges::find(kForms, op.id, &Form::op);
  return found != std::end(kForms) && opset < found->until ? &*found : nullptr;
}

}  // namespace

bool changes_form(const Operator& op, std::int64_t opset) {
  if (opset < 13 && changes_before_13(op)) return true;
  if (opset < 11 && changes_form_before_11(op)) return true;
  // Sizes of equal pieces: the number of outputs says enough before opset 18, not after.
  if (op.id == Op::kSplit) return opset < 18;
  if (op.id == Op::kBatchNormalization) return opset < 14;
  return form_of(op, opset) != nullptr || onnx::is_defined_before(op, opset);
}

namespace {

// Opset 11: another name.
std::optional<Values> scatter(Lowering& onnx, const Values& inputs, Attributes& attributes) {
  if (!scatters(onnx, attributes)) return std::nullopt;
  return onnx.node("", "Scatter", inputs, attributes, 1);
}

std::optional<Values> in_form_from_13(Lowering& onnx, const Operator& op, Values& inputs,
                                      Attributes& attributes, std::size_t outputs) {
  if (op.id == Op::kSplit) return split(onnx, inputs, attributes, outputs);
  if (op.id == Op::kBatchNormalization && onnx.opset() < 14)
    return batch_normalization(onnx, inputs, attributes, outputs);
  if (op.id == Op::kScatterElements && onnx.opset() < 11) return scatter(onnx, inputs, attributes);
  if (op.at(onnx.opset()) == nullptr || onnx::is_defined_before(op, onnx.opset()))
    return onnx::spelled_out({onnx, inputs, attributes, outputs}, op);
  const Form* form = form_of(op, onnx.opset());
  if (form == nullptr || (op.id == Op::kReshape && inputs.size() < 2)) return std::nullopt;
  return form->change(onnx, inputs, attributes);
}

}  // namespace

std::optional<Values> in_older_form(Lowering& onnx, const Operator& op, Values& inputs,
                                    Attributes& attributes, std::size_t outputs) {
  // Missing inputs are found by the check that follows.
  if ((inputs.empty() || !inputs[0]) && op.id != Op::kOptionalHasElement) return std::nullopt;
  if (auto values = in_form_from_13(onnx, op, inputs, attributes, outputs)) return values;
  if (onnx.opset() >= 13) return std::nullopt;
  if (auto values = downgraded_before_13(onnx, op, inputs, attributes)) return values;
  if (onnx.opset() >= 11) return std::nullopt;
  return in_form_before_11(onnx, op, inputs, attributes);
}

}  // namespace sardonyx::targets

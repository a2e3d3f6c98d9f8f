// Images at another size in ONNX Runtime.
#include <algorithm>
#include <cmath>
#include <vector>

#include "onnx/definitions/images.h"
#include "onnx/infer/inference.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

std::optional<Values> spelled_out(const Use& use, const Rule&) {
  return onnx::spelled_out_resize({use.onnx, use.inputs, use.attributes});
}

// Whether an axis of this size may come out as long by a factor that is not 1. Where the size is
// not known, axes of two elements or more do so by these factors only.
bool may_stay(Expr size, double factor) {
  if (factor == 1) return true;
  if (!size.is_constant()) return factor > 1 && factor < 1.5;
  const double from = static_cast<double>(size.value());
  return std::floor(from * factor) == from;
}

bool may_keep_its_size(const Use& use) {
  const Value x = use.input(0), scales = use.input(2);
  if (!x.has_rank() || !scales || !scales.is_constant() || use.attribute("axes") != nullptr)
    return false;
  const auto factors = scales.constant()->reals();
  if (!factors || factors->size() != x.shape().size()) return false;
  for (std::size_t i = 0; i < factors->size(); ++i)
    if (!may_stay(x.shape()[i], (*factors)[i])) return false;
  return std::ranges::any_of(*factors, [](double factor) { return factor != 1; });
}

bool has_one_axis(const Use& use) {
  return use.input(0).has_rank() && use.input(0).rank() == 3 && use.text("mode") == "linear" &&
         use.attribute("axes") == nullptr && !use.input(1);
}

// An entry for the new axis between the channels' and the axis' own.
Value widened(onnx::Emit& onnx, Value scales) {
  const Value one = onnx.constant(onnx::Tensor::filled(scales.dtype(), {1}, 1));
  return onnx.concat({onnx.slice(scales, 0, 0, 2), one, onnx.slice(scales, 0, 2, 3)}, 0);
}

Value widened_sizes(onnx::Emit& onnx, Value sizes) {
  const auto known = onnx::contents_of(sizes.info());
  if (!known || known->size() != 3) {
    return onnx.concat({onnx.slice(sizes, 0, 0, 2), onnx.ints({1}), onnx.slice(sizes, 0, 2, 3)}, 0);
  }
  return onnx.sizes({(*known)[0], (*known)[1], Expr(1), (*known)[2]});
}

// Before: Resize(x [N, C, size])
// After:  Squeeze(Resize(Unsqueeze(x, [2])), [2])
std::optional<Values> as_rows(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  std::vector<Value> inputs = {onnx.unsqueeze(use.input(0), {2}), Value()};
  inputs.push_back(use.input(2) ? widened(onnx, use.input(2)) : Value());
  if (use.input(3)) inputs.push_back(widened_sizes(onnx, use.input(3)));
  const Values rows =
      onnx.without(rule, use, inputs, {use.attributes.begin(), use.attributes.end()});
  return Values{onnx.squeeze(rows.front(), {2})};
}

// Whether the axis comes out as long for certain.
bool is_kept(const Use& use, std::size_t i, std::int64_t axis) {
  const Value scales = use.input(2), sizes = use.input(3);
  if (scales && scales.is_constant()) {
    const auto factors = scales.constant()->reals();
    return factors && i < factors->size() && (*factors)[i] == 1;
  }
  const auto wanted = sizes ? onnx::contents_of(sizes.info()) : std::nullopt;
  const Expr from = use.input(0).dim(axis);
  return wanted && i < wanted->size() && from.known() && (*wanted)[i] == from;
}

// The axes that the node names, or all; and of these, those that may come out at another size.
struct Axes {
  std::vector<std::int64_t> named, resized;
};

Axes axes_of(const Use& use) {
  const std::int64_t rank = use.input(0).rank();
  Axes axes;
  if (const auto* given = use.integers("axes")) {
    for (const std::int64_t axis : *given) axes.named.push_back(axis < 0 ? axis + rank : axis);
  } else {
    for (std::int64_t axis = 0; axis < rank; ++axis) axes.named.push_back(axis);
  }
  for (std::size_t i = 0; i < axes.named.size(); ++i)
    if (!is_kept(use, i, axes.named[i])) axes.resized.push_back(axes.named[i]);
  return axes;
}

bool are_between(const std::vector<std::int64_t>& axes, std::int64_t first, std::int64_t last) {
  return std::ranges::all_of(axes,
                             [=](std::int64_t axis) { return first <= axis && axis <= last; });
}

bool is_of_other_axes(const Use& use) {
  const std::string_view mode = use.text("mode", "nearest");
  if (mode == "nearest" || !use.input(0).has_rank() || use.input(1)) return false;
  const std::int64_t rank = use.input(0).rank();
  const std::vector<std::int64_t> axes = axes_of(use).resized;
  if (mode == "cubic") return rank != 2 && !(rank == 4 && are_between(axes, 2, 3));
  return rank > 3 && !are_between(axes, 2, rank - 1) && !(rank == 4 && are_between(axes, 1, 2));
}

// Before: Resize(x [N, height, width, C])
// After:  Transpose(Resize(Transpose(x, [0, 3, 1, 2])), [0, 2, 3, 1])
// The axes of the image stand last, of four.
std::optional<Values> as_image(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const std::int64_t rank = use.input(0).rank();
  Axes axes = axes_of(use);
  if (rank < 3 || rank > 4 || axes.resized.size() > 2) return spelled_out(use, rule);
  const auto position = [](const std::vector<std::int64_t>& list, std::int64_t axis) {
    return std::ranges::find(list, axis) - list.begin();
  };
  std::vector<std::int64_t> perm, back;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (std::ranges::find(axes.resized, axis) == axes.resized.end()) perm.push_back(axis);
  perm.insert(perm.end(), axes.resized.begin(), axes.resized.end());
  for (std::int64_t axis = 0; axis < rank; ++axis) back.push_back(position(perm, axis));
  std::vector<Value> inputs(use.inputs.begin(), use.inputs.end());
  inputs[0] = onnx.transpose(inputs[0], perm);
  if (rank == 3) inputs[0] = onnx.unsqueeze(inputs[0], {0});
  for (std::int64_t& axis : axes.named) axis = position(perm, axis) + 4 - rank;
  std::vector<Attribute> attributes(use.attributes.begin(), use.attributes.end());
  std::erase_if(attributes, [](const Attribute& each) { return each.name == "axes"; });
  attributes.push_back({"axes", std::move(axes.named), {}});
  Value y = onnx.without(rule, use, inputs, std::move(attributes)).front();
  if (rank == 3) y = onnx.squeeze(y, {0});
  return Values{onnx.transpose(y, back)};
}

constexpr Rule kRows[] = {
    {.name = "resize-of-doubles",
     .op = Op::kResize,
     .reason = Reason::kLacks,
     .types = onnx::dtype_bit(base::DType::kFloat64),
     .how = spelled_out,
     .why = "there is no Resize of float64",
     .since = "1.31"},
    {.name = "resize-that-keeps-its-size",
     .op = Op::kResize,
     .reason = Reason::kWrong,
     .when = may_keep_its_size,
     .how = spelled_out,
     .why = "an image that comes out as large as it was is copied, whatever places the scales say",
     .since = "1.31"},
    {.name = "linear-resize-of-one-axis",
     .op = Op::kResize,
     .reason = Reason::kWrong,
     .when = has_one_axis,
     .how = as_rows,
     .why = "one spatial axis is taken for the columns of an image whose rows are the channels, "
            "and zero times the next channel is added, which may be infinite",
     .since = "1.31"},
    {.name = "resize-of-other-axes",
     .op = Op::kResize,
     .reason = Reason::kFails,
     .when = is_of_other_axes,
     .how = as_image,
     .why = "cubic interpolation of other axes than the last two of four, and linear interpolation "
            "of other axes than an image's, is refused as the model runs",
     .since = "1.31"},
};

}  // namespace

Rules resizing_rules() { return kRows; }

}  // namespace sardonyx::targets

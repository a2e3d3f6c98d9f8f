// Layers of networks.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "onnx/definitions/attention.h"
#include "onnx/definitions/definitions.h"
#include "onnx/operators/traits.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"
#include "targets/onnxruntime/workarounds/own_kernels.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;

bool normalizes_nothing(const Use& use) {
  const Value x = use.input(0);
  if (!x.has_rank()) return false;
  const std::int64_t axis = use.integer("axis", -1);
  for (std::int64_t i = axis < 0 ? axis + x.rank() : axis; i < x.rank(); ++i)
    if (x.dim(i).is(0)) return true;
  return false;
}

// Sizes of batches are taken to be at least 1; those that depend on data may be 0.
bool may_attend_to_nothing(const Use& use) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (const Value x = use.input(i);
        !x.has_rank() || std::ranges::any_of(x.shape(), onnx::may_be_zero))
      return true;
  return false;
}

std::optional<Values> unchanged(const Use& use, const Rule&) {
  if (use.outputs > 1) return std::nullopt;
  return Values{use.input(0)};
}

// x - max(x) - log(sum(exp(x - max(x)))) along the axis.
Value log_softmax(Lowering& onnx, Value x, std::int64_t axis) {
  const auto over_axis = [&](const char* reduction, Value of) {
    return onnx.reduce(reduction, of, {&axis, 1}, /*keep_dims=*/true);
  };
  const Value shifted = onnx.sub(x, over_axis("ReduceMax", x));
  return onnx.sub(shifted, onnx.log(over_axis("ReduceSum", onnx.exp(shifted))));
}

std::optional<Values> log_softmax_by_sums(const Use& use, const Rule&) {
  return Values{log_softmax(use.onnx, use.input(0), use.integer("axis", -1))};
}

// The greatest of no element, which kernels refuse, is none that LogSoftmax asks for.
bool is_log_softmax_without_kernel(const Use& use) {
  const Value x = use.input(0);
  return !has_own_kernel(use.onnx, Op::kLogSoftmax) && x.has_rank() && x.rank() > 0 &&
         !onnx::may_be_zero(x.dim(use.integer("axis", -1)));
}

// Sums are of float32, as in the kernels of other providers.
std::optional<Values> log_softmax_in_single(const Use& use, const Rule&) {
  const Value x = use.onnx.cast(use.input(0), kFloat32);
  return Values{use.onnx.cast(log_softmax(use.onnx, x, use.integer("axis", -1)), use.dtype())};
}

// 1, or 0 where it is cut off what is empty.
bool is_at_most_one(Expr size) { return size.known() && symbolic::certainly_less_equal(size, 1); }

// The scores' last two axes where the mask has 1: it is to be laid out along them.
onnx::Shape laid_out(const Use& use) {
  const Value query = use.input(0), key = use.input(1), mask = use.input(3), past = use.input(4);
  if (!mask || !mask.has_rank() || mask.rank() < 2 || !query.has_rank() || !key.has_rank() ||
      query.rank() < 3 || key.rank() < 3 || (past && !past.has_rank()))
    return {};
  const std::int64_t length = query.rank() - 2;
  Expr keys = key.dim(key.rank() - 2);
  if (past && past.rank() == 4) keys = keys + past.dim(2);
  onnx::Shape shape = mask.shape();
  if (is_at_most_one(shape[shape.size() - 2])) shape[shape.size() - 2] = query.dim(length);
  if (is_at_most_one(shape.back())) shape.back() = keys;
  return shape;
}

bool is_broadcast_along_scores(const Use& use) {
  const onnx::Shape shape = laid_out(use);
  return !shape.empty() && !(shape == use.input(3).shape()) &&
         std::ranges::all_of(shape, &Expr::known);
}

std::optional<Values> with_mask_laid_out(const Use& use, const Rule& rule) {
  std::vector<Value> inputs(use.inputs.begin(), use.inputs.end());
  inputs[3] = use.onnx.expand(inputs[3], laid_out(use));
  return use.onnx.without(rule, use, inputs, {use.attributes.begin(), use.attributes.end()});
}

constexpr double kLowest = -double{std::numeric_limits<float>::max()};

bool may_hide_by_lowest(const Use& use) {
  const Value mask = use.input(3);
  return mask && mask.dtype() == kFloat32 && onnx::sinks_in(mask.info()) == nullptr &&
         onnx::may_hold(mask.info(), kLowest);
}

// Two masks that both hide a key by the lowest number are minus infinity there.
bool adds_lowest_twice(const onnx::ValueInfo* mask) {
  const onnx::Node* node = mask->producer;
  while (node != nullptr &&
         (onnx::has_trait(node->op, onnx::Trait::kRearranges) || node->is(Op::kCast)))
    node = node->input(0)->producer;
  return node != nullptr && node->is(Op::kAdd) && onnx::may_hold(node->input(0), kLowest) &&
         onnx::may_hold(node->input(1), kLowest);
}

// The next smaller number hides a key as well beside others, and is one like others to the kernel.
std::optional<Values> with_mask_above_lowest(const Use& use, const Rule& rule) {
  std::vector<Value> inputs(use.inputs.begin(), use.inputs.end());
  Lowering& onnx = use.onnx;
  const Value hidden = onnx.scalar(-3.4e38, kFloat32), mask = inputs[3];
  inputs[3] = onnx::may_hold_minus_infinity(mask.info()) || adds_lowest_twice(mask.info())
                  ? onnx.where(onnx.equal(mask, onnx.scalar(kLowest, kFloat32)), hidden, mask)
                  : onnx.max({mask, hidden});
  return onnx.without(rule, use, inputs, {use.attributes.begin(), use.attributes.end()});
}

constexpr DTypeSet kDouble = onnx::dtype_bit(kFloat64);

// Of every provider: their kernels check shapes by the same code.
constexpr Rule kMasks[] = {
    {.name = "attention-mask-of-one-row",
     .op = Op::kAttention,
     .reason = Reason::kFails,
     .first = 23,
     .when = is_broadcast_along_scores,
     .how = with_mask_laid_out,
     .why = "a mask of one row for all queries, or one column for all keys, is refused when the "
            "model runs",
     .since = "1.31"},
};

constexpr Rule kRows[] = {
    {.name = "attention-of-nothing",
     .op = Op::kAttention,
     .reason = Reason::kFails,
     .when = may_attend_to_nothing,
     .how = by_definition,
     .why = "a batch of none, or no query, is refused when the model runs",
     .since = "1.31"},
    {.name = "attention-mask-of-lowest",
     .op = Op::kAttention,
     .reason = Reason::kWrong,
     .first = 23,
     .when = may_hide_by_lowest,
     .how = with_mask_above_lowest,
     .why = "a row whose mask is the lowest float32 throughout gives zeros, where all keys are "
            "attended to alike",
     .since = "1.31"},
    {.name = "layer-normalization-of-nothing",
     .op = Op::kLayerNormalization,
     .reason = Reason::kFails,
     .when = normalizes_nothing,
     .how = unchanged,
     .why = "it normalizes at least one element",
     .since = "1.31"},
    {.name = "log-softmax-in-double",
     .op = Op::kLogSoftmax,
     .reason = Reason::kWrong,
     .types = kDouble,
     .how = log_softmax_by_sums,
     .why = "NaN and infinity in one element do not reach the others",
     .since = "1.31"},
    {.name = "lstm-in-double",
     .op = Op::kLSTM,
     .reason = Reason::kLacks,
     .types = kDouble,
     .how = by_definition,
     .why = "a kernel for float64 is registered, which refuses when it runs",
     .since = "1.31"},
    {.name = "gru-in-double",
     .op = Op::kGRU,
     .reason = Reason::kLacks,
     .types = kDouble,
     .how = by_definition,
     .why = "a kernel for float64 is registered, which refuses when it runs",
     .since = "1.31"},
    {.name = "rnn-in-double",
     .op = Op::kRNN,
     .reason = Reason::kLacks,
     .types = kDouble,
     .how = by_definition,
     .why = "there is no kernel for float64",
     .since = "1.31"},
};

constexpr Rule kLogSoftmaxRows[] = {
    {.name = "log-softmax-without-a-kernel",
     .op = Op::kLogSoftmax,
     .reason = Reason::kLacks,
     .types = onnx::dtype_bit(kFloat32) | onnx::dtype_bit(kFloat16),
     .when = is_log_softmax_without_kernel,
     .how = log_softmax_in_single,
     .why = "there is no LogSoftmax",
     .since = "1.27"},
};

constexpr DTypeSet kNormalized =
    onnx::dtype_bit(kFloat32) | onnx::dtype_bit(kFloat16) | onnx::dtype_bit(kBFloat16);

bool normalizes_layers_alone(const Use& use) {
  return !has_own_kernel(use.onnx, Op::kInstanceNormalization) &&
         has_own_kernel(use.onnx, Op::kLayerNormalization);
}

// Before: InstanceNormalization(x, scale, bias)                      x: [batch, channels, ...]
// After:  LayerNormalization(Reshape(x, [batch, channels, rest]), ones) * scale + bias
std::optional<Values> instances_as_layers(const Use& use, const Rule&) {
  Lowering& onnx = use.onnx;
  const Value x = use.input(0), scale = use.input(1), bias = use.input(2);
  if (!x.has_rank() || x.rank() < 3) return std::nullopt;
  Expr rest = 1;
  for (std::int64_t axis = 2; axis < x.rank(); ++axis) rest = rest * x.dim(axis);
  if (!rest.known() || !onnx.can_size(rest) || onnx::may_be_zero(rest)) return std::nullopt;
  const Value ones = onnx.full(std::array{rest}, onnx.one(x.dtype()));
  const Value rows = onnx.reshape(x, {x.dim(0), x.dim(1), rest});
  const Value normal =
      onnx.layer_normalization(rows, ones, {}, {.axis = -1, .epsilon = use.real("epsilon", 1e-5F)});
  Value y = onnx.reshape_like(normal, x);
  std::vector<std::int64_t> spatial(static_cast<std::size_t>(x.rank() - 2));
  std::iota(spatial.begin(), spatial.end(), 1);
  if (!onnx::is_filled(scale, 1)) y = onnx.mul(y, onnx.unsqueeze(scale, spatial));
  if (!onnx::is_filled(bias, 0)) y = onnx.add(y, onnx.unsqueeze(bias, spatial));
  return Values{y};
}

constexpr Rule kInstanceRows[] = {
    {.name = "groups-as-instances",
     .op = Op::kGroupNormalization,
     .reason = Reason::kLacks,
     .types = kNormalized,
     .when = normalizes_layers_alone,
     .how = by_definition,
     .why = "there is no kernel, and its own form has 13 in place of the 3 of LayerNormalization, "
            "Mul and Add",
     .since = "1.31"},
    {.name = "instances-as-layers",
     .op = Op::kInstanceNormalization,
     .reason = Reason::kLacks,
     .types = kNormalized,
     .when = normalizes_layers_alone,
     .how = instances_as_layers,
     .why = "the kernel is of opsets below 22; LayerNormalization has one of every opset",
     .since = "1.31"},
};

bool normalizes_instances(const Use& use) {
  return has_own_kernel(use.onnx, Op::kInstanceNormalization);
}

// Of all providers: none has a kernel of GroupNormalization.
constexpr Rule kGroupRows[] = {
    {.name = "group-normalization",
     .op = Op::kGroupNormalization,
     .reason = Reason::kSlow,
     .when = normalizes_instances,
     .how = by_definition,
     .why = "it spells GroupNormalization out by statistics of its own, and has a kernel for the "
            "InstanceNormalization that it is",
     .since = "1.31"},
};

}  // namespace

Rules attention_mask_rules() { return kMasks; }
Rules network_rules() { return kRows; }
Rules log_softmax_rules() { return kLogSoftmaxRows; }

Rules instance_normalization_rules() { return kInstanceRows; }
Rules group_normalization_rules() { return kGroupRows; }

}  // namespace sardonyx::targets

#include "onnx/definitions/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/diagnostic.h"
#include "onnx/definitions/bits.h"
#include "onnx/definitions/images.h"
#include "onnx/definitions/parts.h"
#include "onnx/definitions/running_product.h"
#include "onnx/definitions/scatters.h"
#include "onnx/definitions/signal.h"
#include "onnx/emit/emit_state.h"
#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

// Opset 20. x/2 * (1 + erf(x/sqrt 2)), or the approximation by tanh.
Value gelu(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  const auto number = [&](double value) { return onnx.scalar_like(value, x); };
  // As language models write it: runtimes that have a kernel for it recognize this form.
  if (call.text("approximate") == "tanh") {
    const Value sum = onnx.add(x, onnx.mul(onnx.pow(x, number(3)), number(0.044715)));
    const Value bent = onnx.tanh(onnx.mul(sum, number(std::sqrt(2.0 / 3.14159265358979323846))));
    return onnx.mul(onnx.mul(x, number(0.5)), onnx.add(bent, number(1)));
  }
  const Value inner = onnx.erf(onnx.div(x, number(std::sqrt(2.0))));
  return onnx.mul(onnx.mul(x, onnx.add(inner, number(1))), number(0.5));
}

// Opset 12. Neither holds for NaN.
Value or_equal(const Composite& call, const Operator& op) {
  Emit& onnx = call.onnx;
  const Value a = call.input(0), b = call.input(1);
  const Value apart = op.id == Op::kLessOrEqual ? onnx.less(a, b) : onnx.greater(a, b);
  return onnx.or_(apart, onnx.equal(a, b));
}

// Opset 14.
Value hard_swish(const Composite& call) {
  const Value x = call.input(0);
  return call.onnx.mul(x, call.onnx.hard_sigmoid(x, {.alpha = 1.0F / 6.0F, .beta = 0.5F}));
}

// Opset 18.
Value mish(const Composite& call) {
  const Value x = call.input(0);
  return call.onnx.mul(x, call.onnx.tanh(call.onnx.softplus(x)));
}

// Opset 24.
Value swish(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  const float alpha = call.real("alpha", 1.0F);
  return onnx.mul(x, onnx.sigmoid(onnx.mul(x, onnx.scalar_like(alpha, x))));
}

// Opset 28.
Value swiglu(const Composite& call) { return call.onnx.mul(swish(call), call.input(1)); }

// Opset 15.
Value cast_like(const Composite& call) {
  return call.onnx.cast(call.input(0), call.input(1).dtype());
}

// Opset 26. Casts between integers keep the bits; of a bool, 0 and 1 are its bits.
std::optional<Values> bit_cast(const Composite& call) {
  const auto to = static_cast<DType>(call.integer("to", 0));
  const DType given = call.input(0).dtype();
  const bool keeps_bits =
      given == to || (given == DType::kBool && base::bit_width(to) == 8) || base::is_integer(given);
  if (!keeps_bits || (given != to && !base::is_integer(to))) return std::nullopt;
  return Values{call.onnx.cast(call.input(0), to)};
}

// Opset 12: max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
Value celu(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0), zero = onnx.zero(x.dtype());
  const Value alpha = onnx.scalar_like(as_written(call.real("alpha", 1.0F)), x);
  const Value bent = onnx.sub(onnx.exp(onnx.div(x, alpha)), onnx.one(x.dtype()));
  return onnx.add(onnx.max({x, zero}), onnx.min({onnx.mul(alpha, bent), zero}));
}

// Opset 27: of half precision, computed in the type that is said.
std::optional<Values> range_of_halves(const Composite& call) {
  Emit& onnx = call.onnx;
  const DType dtype = call.input(0).dtype();
  if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) return std::nullopt;
  const auto computed =
      static_cast<DType>(call.integer("stash_type", static_cast<std::int64_t>(DType::kFloat32)));
  if (computed == dtype || call.inputs.size() < 3) return std::nullopt;
  const auto wide = [&](std::size_t i) { return onnx.cast(call.input(i), computed); };
  return Values{onnx.cast(onnx.range(wide(0), wide(1), wide(2)), dtype)};
}

Value reduce_log_sum(const Composite& call) {
  Emit& onnx = call.onnx;
  return onnx.log(
      onnx.reduce_sum(call.input(0), call.input(1),
                      {.keepdims = call.integer("keepdims", 1),
                       .noop_with_empty_axes = call.integer("noop_with_empty_axes", 0)}));
}

// Less the greatest element, so that no power is infinite, unless it is so itself.
Value reduce_log_sum_exp(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0), axes = call.input(1);
  const std::int64_t keeps = call.integer("keepdims", 1),
                     noop = call.integer("noop_with_empty_axes", 0);
  const ReduceMaxAttributes kept{.keepdims = 1, .noop_with_empty_axes = noop},
      wanted{.keepdims = keeps, .noop_with_empty_axes = noop};
  const Value greatest = onnx.reduce_max(x, axes, kept);
  const Value finite = onnx.where(onnx.is_inf(greatest), onnx.zero(x.dtype()), greatest);
  const Value sum = onnx.reduce_sum(onnx.exp(onnx.sub(x, finite)), axes,
                                    {.keepdims = keeps, .noop_with_empty_axes = noop});
  // In this order, whichever argument a compiler evaluates first.
  const Value subtracted = onnx.reduce_max(finite, axes, wanted);
  return onnx.add(onnx.log(sum), subtracted);
}

// Opset 28: Mod of real numbers with the sign of the divisor: that of C has the sign of what is
// divided, and is one divisor away where the two differ. A remainder of zero has the divisor's
// sign, too.
std::optional<Values> remainder(const Composite& call) {
  const Value x = call.input(0), y = call.input(1);
  if (!x || !y || !base::is_floating(x.dtype()) || call.integer("fmod", 0) != 0)
    return std::nullopt;
  Emit& onnx = call.onnx;
  const Value zero = onnx.zero(x.dtype());
  const Value rest = onnx.mod(x, y, {.fmod = 1});
  const Value differs = onnx.xor_(onnx.less(rest, zero), onnx.less(y, zero));
  const Value moved = onnx.where(differs, onnx.add(rest, y), rest);
  const Value none = onnx.mul(onnx.sign(y), zero);
  return Values{onnx.where(onnx.equal(rest, zero), none, moved)};
}

// Opset 28, by columns and rows: [N, C, H, W] -> [N, C, H/b, b, W/b, b] -> [N, C * b * b, H/b,
// W/b]; the one before keeps the channels inside of the blocks.
std::optional<Values> space_to_depth(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  if (call.text("mode", "DCR") != "CRD" || !x.has_rank() || x.rank() != 4) return std::nullopt;
  const Expr block = call.integer("blocksize", 1);
  const Expr rows = symbolic::exact_quotient(x.dim(2), block),
             columns = symbolic::exact_quotient(x.dim(3), block);
  if (!rows.known() || !columns.known()) return std::nullopt;
  const Value apart = onnx.reshape(x, {x.dim(0), x.dim(1), rows, block, columns, block});
  return Values{onnx.reshape(onnx.transpose(apart, {0, 1, 3, 5, 2, 4}),
                             {x.dim(0), x.dim(1) * block * block, rows, columns})};
}

Value bernoulli(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value p = call.input(0);
  RandomUniformLikeAttributes attributes{.dtype = p.dtype()};
  if (find_attribute(call.attributes, "seed") != nullptr) attributes.seed = call.real("seed", 0);
  const Value drawn = onnx.less(onnx.random_uniform_like(p, attributes), p);
  return onnx.cast(drawn, static_cast<DType>(call.integer("dtype", static_cast<int>(p.dtype()))));
}

// From the one that the call names to the last; nothing where x has no such axis.
std::optional<std::vector<std::int64_t>> axes_from(const Composite& call, Value x) {
  if (!x.has_rank()) return std::nullopt;
  std::int64_t axis = call.integer("axis", -1);
  if (axis < 0) axis += x.rank();
  if (axis < 0 || axis >= x.rank()) return std::nullopt;
  std::vector<std::int64_t> axes(static_cast<std::size_t>(x.rank() - axis));
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

// x in the type that statistics are computed in: float32, or float64 for itself.
Value stashed(const Composite& call, Value x) {
  if (x.dtype() == DType::kFloat64) return x;
  return call.onnx.cast(x, static_cast<DType>(call.integer("stash_type", 1)));
}

// By Pow, the form in which runtimes recognize normalizations. In float64 they would replace the
// epsilon by another one.
Value square(Emit& onnx, Value x) {
  return x.dtype() == DType::kFloat64 ? onnx.mul(x, x) : onnx.pow(x, onnx.scalar_like(2, x));
}

// Opset 17: (x - mean) / sqrt(variance + epsilon) * scale + bias.
std::optional<Values> layer_normalization(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  const auto axes = axes_from(call, x);
  if (!axes) return std::nullopt;
  const Value wide = stashed(call, x);
  const Value mean = onnx.reduce("ReduceMean", wide, *axes, true);
  const Value centered = onnx.sub(wide, mean);
  const Value variance = onnx.reduce("ReduceMean", square(onnx, centered), *axes, true);
  const Value epsilon = onnx.scalar_like(as_written(call.real("epsilon", 1e-5F)), wide);
  const Value deviation = onnx.sqrt(onnx.add(variance, epsilon));
  Value y = onnx.cast(onnx.div(centered, deviation), x.dtype());
  if (!is_filled(call.input(1), 1)) y = onnx.mul(y, call.input(1));
  if (call.input(2)) y = onnx.add(y, call.input(2));
  Values values{y};
  if (call.outputs > 1) values.push_back(mean);
  if (call.outputs > 2) values.push_back(onnx.reciprocal(deviation));
  return values;
}

// Opset 23: x / sqrt(mean(x^2) + epsilon) * scale.
std::optional<Values> rms_normalization(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  const auto axes = axes_from(call, x);
  if (!axes) return std::nullopt;
  const Value wide = stashed(call, x);
  const Value mean = onnx.reduce("ReduceMean", square(onnx, wide), *axes, true);
  const Value epsilon = onnx.scalar_like(as_written(call.real("epsilon", 1e-5F)), wide);
  const Value y = onnx.cast(onnx.div(wide, onnx.sqrt(onnx.add(mean, epsilon))), x.dtype());
  return Values{is_filled(call.input(1), 1) ? y : onnx.mul(y, call.input(1))};
}

// Opset 21, where scale and bias are a channel's; in opset 18 they were a group's.
std::optional<Values> group_normalization(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0), scale = call.input(1), bias = call.input(2);
  if (!x.has_rank() || x.rank() < 2) return std::nullopt;
  const std::int64_t groups = call.integer("num_groups", 1);
  // Instance normalization of [batch, groups, rest]: every group is an instance.
  Expr rest = 1;
  for (std::int64_t axis = 1; axis < x.rank(); ++axis) rest = rest * x.dim(axis);
  if (!rest.known()) return std::nullopt;
  const Expr size = symbolic::exact_quotient(rest, groups);
  const Value grouped =
      onnx.reshape(x, {x.dim(0), groups, size.known() ? size : symbolic::floor_div(rest, groups)});
  const Value one = onnx.constant(Tensor::filled(x.dtype(), {groups}, 1));
  const Value zero = onnx.constant(Tensor::filled(x.dtype(), {groups}, 0));
  const Value normal =
      onnx.instance_normalization(grouped, one, zero, {.epsilon = call.real("epsilon", 1e-5F)});
  Value y = onnx.reshape_like(normal, x);
  std::vector<std::int64_t> spatial(static_cast<std::size_t>(x.rank() - 2));
  std::iota(spatial.begin(), spatial.end(), 1);
  if (!is_filled(scale, 1)) y = onnx.mul(y, onnx.unsqueeze(scale, spatial));
  if (!is_filled(bias, 0)) y = onnx.add(y, onnx.unsqueeze(bias, spatial));
  return Values{y};
}

// Opset 14: element (i, j) stays where j - i >= k (upper) or <= k (lower).
std::optional<Values> trilu(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  if (!x.has_rank() || x.rank() < 2 || !x.dim(-1).known() || !x.dim(-2).known())
    return std::nullopt;
  const Value rows = onnx.unsqueeze(onnx.range(x.dim(-2)), {1});
  const Value columns = onnx.unsqueeze(onnx.range(x.dim(-1)), {0});
  const Value distance = onnx.sub(columns, rows);
  const Value k = call.input(1) ? call.input(1) : onnx.int_scalar(0);
  const Value kept = call.integer("upper", 1) != 0 ? onnx.greater_or_equal(distance, k)
                                                   : onnx.less_or_equal(distance, k);
  return Values{onnx.where(kept, x, onnx.zero(x.dtype()))};
}

// What an operator is made of hangs on the types of its inputs and on what its attributes are,
// which in functions are those of their calls.
bool is_known(const Composite& call) {
  const auto typed = [](Value input) { return !input || input.dtype() != DType::kUndefined; };
  const auto given = [](const Attribute& attribute) { return attribute.reference.empty(); };
  return std::ranges::all_of(call.inputs, typed) && std::ranges::all_of(call.attributes, given);
}

}  // namespace

bool is_filled(Value x, double with) {
  if (!x.is_constant() || x->is_weight) return false;
  const auto reals = x.constant()->reals();
  return reals && std::ranges::all_of(*reals, [=](double real) { return real == with; });
}

double as_written(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

std::int64_t Composite::integer(std::string_view name, std::int64_t otherwise) const {
  return int_attribute(attributes, name, otherwise);
}

float Composite::real(std::string_view name, float otherwise) const {
  const Attribute* found = find_attribute(attributes, name);
  return found == nullptr ? otherwise : std::get<float>(found->data);
}

std::vector<std::int64_t> Composite::integers(std::string_view name, std::size_t count,
                                              std::int64_t otherwise) const {
  const std::vector<std::int64_t>* found = ints_attribute(attributes, name);
  if (found == nullptr || found->empty()) return std::vector<std::int64_t>(count, otherwise);
  if (count > 0 && found->size() != count)
    base::fail("SX1502",
               fmt::format("'{}' has {} entries where {} are needed", name, found->size(), count));
  return *found;
}

std::string Composite::text(std::string_view name, std::string otherwise) const {
  const Attribute* found = find_attribute(attributes, name);
  return found == nullptr ? std::move(otherwise) : std::get<std::string>(found->data);
}

const std::vector<std::string>* Composite::texts(std::string_view name) const {
  const Attribute* found = find_attribute(attributes, name);
  return found == nullptr ? nullptr : &std::get<std::vector<std::string>>(found->data);
}

std::optional<Values> spelled_out(const Composite& call, const Operator& op) {
  if (!is_known(call)) return std::nullopt;
  const std::span<const Value> inputs = call.inputs;
  switch (op.id) {
    case Op::kGelu:
      return Values{gelu(call)};
    case Op::kHardSwish:
      return Values{hard_swish(call)};
    case Op::kMish:
      return Values{mish(call)};
    case Op::kSwish:
      return Values{swish(call)};
    case Op::kSwiGLU:
      return inputs.size() > 1 ? std::optional(Values{swiglu(call)}) : std::nullopt;
    case Op::kGreaterOrEqual:
    case Op::kLessOrEqual:
      return inputs.size() > 1 ? std::optional(Values{or_equal(call, op)}) : std::nullopt;
    case Op::kCastLike:
      return inputs.size() > 1 ? std::optional(Values{cast_like(call)}) : std::nullopt;
    case Op::kBitShift:
      return bit_shift(call);
    case Op::kCausalConvWithState:
      return causal_convolution(call);
    case Op::kCelu:
      return Values{celu(call)};
    case Op::kMod:
      return remainder(call);
    case Op::kRange:
      return range_of_halves(call);
    case Op::kReduceLogSum:
      return Values{reduce_log_sum(call)};
    case Op::kReduceLogSumExp:
      return Values{reduce_log_sum_exp(call)};
    case Op::kSpaceToDepth:
      return space_to_depth(call);
    case Op::kBernoulli:
      return Values{bernoulli(call)};
    case Op::kAttention:
      return inputs.size() > 2 ? attention(call) : std::nullopt;
    case Op::kLinearAttention:
      return linear_attention(call);
    case Op::kRotaryEmbedding:
      return rotary_embedding(call);
    case Op::kDequantizeLinear:
      return dequantize_linear(call);
    case Op::kQuantizeLinear:
      return quantize_linear(call);
    case Op::kLSTM:
    case Op::kGRU:
    case Op::kRNN:
      return recurrent(call, op);
    case Op::kLayerNormalization:
      return inputs.size() > 1 ? layer_normalization(call) : std::nullopt;
    case Op::kRMSNormalization:
      return inputs.size() > 1 ? rms_normalization(call) : std::nullopt;
    case Op::kGroupNormalization:
      return inputs.size() > 2 ? group_normalization(call) : std::nullopt;
    case Op::kTrilu:
      return trilu(call);
    case Op::kDeformConv:
      return inputs.size() > 2 ? spelled_out_deform_conv(call) : std::nullopt;
    case Op::kGridSample:
      return inputs.size() > 1 ? spelled_out_grid_sample(call) : std::nullopt;
    case Op::kDFT:
      return spelled_out_dft(call);
    case Op::kHannWindow:
      return Values{spelled_out_hann_window(call)};
    case Op::kHammingWindow:
      return Values{spelled_out_hamming_window(call)};
    case Op::kBlackmanWindow:
      return Values{spelled_out_blackman_window(call)};
    case Op::kBitCast:
      return bit_cast(call);
    case Op::kAffineGrid:
      return spelled_out_affine_grid(call);
    case Op::kCenterCropPad:
      return spelled_out_center_crop_pad(call);
    case Op::kCol2Im:
      return inputs.size() > 2 ? spelled_out_col2im(call) : std::nullopt;
    case Op::kCumProd:
      return running_product(call);
    case Op::kTensorScatter:
      return tensor_scatter_by_elements(call);
    case Op::kBitwiseAnd:
    case Op::kBitwiseOr:
    case Op::kBitwiseXor:
      return bitwise_by_digits(call, op.id);
    case Op::kBitwiseNot:
      return Values{bitwise_not_by_difference(call)};
    default:
      return std::nullopt;
  }
}

bool is_defined_before(const Operator& op, std::int64_t opset) {
  switch (op.id) {
    case Op::kGroupNormalization:
      return opset < 21;  // scale and bias were a group's
    default:
      return false;
  }
}

}  // namespace sardonyx::onnx

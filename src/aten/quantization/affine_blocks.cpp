// torchao's affine quantization: every block of elements has its scale.
#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/quantization/quantization.h"

namespace sardonyx::aten {
namespace {

// How a tensor divides into blocks: the blocks of an axis and the elements of a block on axes of
// their own where neither is 1, as torchao views it.
struct Blocks {
  Shape split;                      // the tensor's shape so divided
  Shape parameters;                 // the same with 1 for what a block holds
  std::vector<std::int64_t> inner;  // axes of `split` within a block
  // Axes of the tensor that have several blocks of several elements, several of one, or one block.
  std::vector<std::int64_t> blocked, single, whole;
};

Blocks blocks_of(const Call& call, Value x) {
  const std::vector<Expr> sizes = call.sizes("block_size");
  Blocks blocks;
  const auto add = [&](Expr size, bool inside) {
    if (inside) blocks.inner.push_back(static_cast<std::int64_t>(blocks.split.size()));
    blocks.split.push_back(size);
    blocks.parameters.push_back(inside ? Expr(1) : size);
  };
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    const Expr size = x.dim(axis), block = sizes.at(static_cast<std::size_t>(axis));
    if (block == size || block.is(-1)) {
      add(size, true);
      blocks.whole.push_back(axis);
    } else if (block.is(1)) {
      add(size, false);
      blocks.single.push_back(axis);
    } else {
      add(symbolic::floor_div(size, block), false);
      add(block, true);
      blocks.blocked.push_back(axis);
    }
  }
  return blocks;
}

double bound(const Call& call, std::string_view name, double otherwise) {
  const std::optional<Scalar> given = call.optional_scalar(name);
  if (!given) return otherwise;
  if (!given->is_constant()) call.refuse("quantization bounds that are computed");
  return given->as_double();
}

// Empty tensors stand for no zero point too.
Value zero_point_of(const Call& call) {
  const Value zero = call.optional_tensor("zero_point");
  return zero && !zero.element_count().is(0) ? zero : Value{};
}

Affine bounded(const Call& call, std::string_view dtype_name, DType stored) {
  // Types below a byte are stored in whole bytes.
  const DType named = call.dtype(dtype_name).value_or(stored);
  Affine affine;
  affine.dtype = stored;
  affine.least = bound(call, "quant_min", least_of(named));
  affine.most = bound(call, "quant_max", most_of(named));
  return affine;
}

struct Parameters {
  Affine affine;
  Shape view;  // of the tensor that the parameters go with
};

// The scales as QuantizeLinear takes them (one, one a channel, blocks along one axis) where they
// are of such a kind, else as they broadcast against the divided tensor.
Parameters parameters_of(const Call& call, Emit& onnx, Value x, Affine affine) {
  const Blocks blocks = blocks_of(call, x);
  const auto shaped = [&](const Shape& shape) {
    affine.scale = onnx.reshape(call.tensor("scale"), shape);
    const Value zero = zero_point_of(call);
    if (zero) affine.zero_point = onnx.reshape(zero, shape);
  };
  if (blocks.blocked.empty() && blocks.single.empty()) {
    shaped({});
    return {affine, x.shape()};
  }
  if (blocks.blocked.empty() && blocks.single.size() == 1) {
    affine.axis = blocks.single.front();
    shaped({x.dim(*affine.axis)});
    return {affine, x.shape()};
  }
  const bool rows = std::ranges::all_of(blocks.whole, [&](auto axis) { return x.dim(axis).is(1); });
  if (blocks.blocked.size() == 1 && rows) {
    const std::int64_t axis = blocks.blocked.front();
    const Expr block = call.sizes("block_size")[static_cast<std::size_t>(axis)];
    if (block.is_constant()) {
      Shape shape = x.shape();
      shape[static_cast<std::size_t>(axis)] = symbolic::floor_div(x.dim(axis), block);
      affine.axis = axis;
      affine.block = block.value();
      shaped(shape);
      return {affine, x.shape()};
    }
  }
  shaped(blocks.parameters);
  return {affine, blocks.split};
}

Outputs quantize_affine(const Call& call, Emit& onnx) {
  const Value x = call.tensor("input");
  const Parameters p =
      parameters_of(call, onnx, x, bounded(call, "output_dtype", call.result_dtype()));
  const Value viewed = onnx.reshape(x, p.view);
  // The element that a computed scale comes from lies halfway between two integers (SYMMETRIC
  // divides by 127.5), where the last bit decides.
  const Value q = p.affine.scale.is_constant() ? quantized(onnx, viewed, p.affine)
                                               : quantized_by_reciprocal(onnx, viewed, p.affine);
  return {onnx.reshape(q, x.shape())};
}

Outputs dequantize_affine(const Call& call, Emit& onnx) {
  const Value q = call.tensor("input");
  const Parameters p = parameters_of(call, onnx, q, bounded(call, "input_dtype", q.dtype()));
  const Value x = dequantized(onnx, onnx.reshape(q, p.view), p.affine, call.result_dtype());
  return {onnx.reshape(x, q.shape())};
}

// The smallest normal number of a type.
double smallest_normal(DType dtype) {
  if (dtype == DType::kFloat16) return 6.103515625e-05;
  if (dtype == DType::kFloat64) return std::numeric_limits<double>::min();
  return std::numeric_limits<float>::min();
}

struct Choice {
  Value scale, zero_point;
};

// Of blocks whose elements reach from `low` (at most 0) to `high` (at least 0).
Choice chosen(const Call& call, Emit& onnx, Value low, Value high, double least, double most) {
  const DType dtype = low.dtype();
  const auto number = [&](double value) { return onnx.scalar(value, dtype); };
  const std::optional<double> given = call.optional_number("eps");
  const Value eps = number(given.value_or(smallest_normal(call.tensor("input").dtype())));
  const std::string mapping = call.text("mapping_type");
  if (mapping == "ASYMMETRIC") {
    const Value spread = onnx.div(onnx.sub(high, low), number(most - least));
    const Value scale = onnx.max({spread, eps});
    const Value zero = onnx.sub(number(least), onnx.round(onnx.div(low, scale)));
    return {scale, onnx.clip(zero, number(least), number(most))};
  }
  Value scale;
  if (mapping == "SYMMETRIC") {
    scale = onnx.div(onnx.max({onnx.neg(low), high}), number((most - least) / 2));
  } else if (mapping == "SYMMETRIC_NO_CLIPPING_ERR") {
    scale = onnx.max({onnx.div(low, number(least)), onnx.div(high, number(most))});
  } else {
    call.refuse("the mapping " + mapping, "use SYMMETRIC, SYMMETRIC_NO_CLIPPING_ERR or ASYMMETRIC");
  }
  const double middle = std::trunc((most + least + 1) / 2);
  return {onnx.max({scale, eps}), onnx.expand(number(middle), scale.shape())};
}

Outputs choose_qparams_affine(const Call& call, Emit& onnx) {
  const Value input = call.tensor("input");
  const DType target = call.dtype("target_dtype").value_or(DType::kInt8);
  const double least = bound(call, "quant_min", least_of(target));
  const double most = bound(call, "quant_max", most_of(target));
  const Blocks blocks = blocks_of(call, input);
  const Value x = onnx.reshape(onnx.cast(input, computing_type(input.dtype())), blocks.split);
  const Value zero = onnx.zero(x.dtype());
  const Value low = onnx.min({onnx.reduce("ReduceMin", x, blocks.inner, true), zero});
  const Value high = onnx.max({onnx.reduce("ReduceMax", x, blocks.inner, true), zero});
  const Choice choice = chosen(call, onnx, low, high, least, most);
  return {onnx.reshape(onnx.cast(choice.scale, call.result_dtype(0)), call.result_shape(0)),
          onnx.reshape(onnx.cast(choice.zero_point, call.result_dtype(1)), call.result_shape(1))};
}

Outputs choose_scale_float8(const Call& call, Emit& onnx) {
  const Value tensor = onnx.cast(call.tensor("tensor"), DType::kFloat32);
  const Blocks blocks = blocks_of(call, tensor);
  Value reach =
      onnx.reduce("ReduceMax", onnx.abs(onnx.reshape(tensor, blocks.split)), blocks.inner, true);
  if (const auto low = call.optional_number("hp_value_lb")) {
    reach = onnx.max({reach, onnx.scalar(*low, reach.dtype())});
  }
  if (const auto high = call.optional_number("hp_value_ub")) {
    reach = onnx.min({reach, onnx.scalar(*high, reach.dtype())});
  }
  const DType dtype = call.dtype("float8_dtype").value_or(DType::kFloat8E4M3FN);
  if (call.dtype("scale_dtype") != DType::kFloat32) call.refuse("scales that are powers of two");
  const Value scale = onnx.div(reach, onnx.scalar(most_of(dtype), reach.dtype()));
  return {onnx.reshape(scale, call.result_shape())};
}

// Scales [blocks...] made to broadcast against a tensor of their rank.
Value spread(Emit& onnx, Value scale, Value tensor) {
  if (scale.element_count().is(1)) return onnx.reshape(scale, Shape{});
  Shape wide, parameters, full;
  bool blocked = false;
  for (std::int64_t axis = 0; axis < scale.rank(); ++axis) {
    const Expr count = scale.dim(axis), size = tensor.dim(axis);
    const bool divides = !count.is(1) && !(count == size);
    blocked |= divides;
    parameters.push_back(count);
    parameters.emplace_back(1);
    wide.push_back(count);
    wide.push_back(divides ? symbolic::floor_div(size, count) : Expr(1));
    full.push_back(divides ? size : count);
  }
  if (!blocked) return scale;
  return onnx.reshape(onnx.expand(onnx.reshape(scale, parameters), wide), full);
}

Outputs quantize_float8(const Call& call, Emit& onnx) {
  const Value tensor = onnx.cast(call.tensor("tensor"), DType::kFloat32);
  const DType dtype = call.result_dtype();
  const Value scale = onnx.cast(spread(onnx, call.tensor("scale"), tensor), DType::kFloat32);
  const Value scaled = onnx.div(tensor, scale);
  return {onnx.cast(onnx.clip(scaled, onnx.scalar(least_of(dtype), scaled.dtype()),
                              onnx.scalar(most_of(dtype), scaled.dtype())),
                    dtype)};
}

Outputs dequantize_float8(const Call& call, Emit& onnx) {
  const Value tensor = onnx.cast(call.tensor("tensor"), DType::kFloat32);
  const Value scale = onnx.cast(spread(onnx, call.tensor("scale"), tensor), DType::kFloat32);
  return {cast_to_result(onnx, call, onnx.mul(tensor, scale))};
}

constexpr Row kRows[] = {
    {"torchao::choose_qparams_affine(Tensor? input, str mapping_type, SymInt[] block_size, "
     "ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, "
     "ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, bool keepdim=False) -> "
     "(Tensor, Tensor)",
     choose_qparams_affine},
    {"torchao::choose_scale_float8(Tensor tensor, SymInt[] block_size, ScalarType float8_dtype=24, "
     "ScalarType scale_dtype=6, float? hp_value_lb=None, float? hp_value_ub=None) -> Tensor",
     choose_scale_float8},
    {"torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? "
     "zero_point, ScalarType input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, "
     "ScalarType output_dtype=6) -> Tensor",
     dequantize_affine},
    {"torchao::dequantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, ScalarType "
     "output_dtype=6) -> Tensor",
     dequantize_float8},
    {"torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? "
     "zero_point, ScalarType output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> "
     "Tensor",
     quantize_affine},
    {"torchao::quantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, ScalarType "
     "float8_dtype=24) -> Tensor",
     quantize_float8},
};

}  // namespace

std::span<const Row> affine_blocks_rows() { return kRows; }

}  // namespace sardonyx::aten

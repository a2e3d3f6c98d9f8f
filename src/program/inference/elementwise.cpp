// Results of what computes each element from those in its place.
#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

bool is_operand(const Parameter& parameter) {
  return parameter.type.kind == TypeKind::kTensor && parameter.type.list_depth == 0;
}

// Numbers that take part in promotion, as tensors do.
bool is_number_operand(const Parameter& parameter) {
  return parameter.type.kind == TypeKind::kNumber &&
         (parameter.name == "other" || parameter.name == "self" || parameter.name == "exponent" ||
          parameter.name == "min" || parameter.name == "max");
}

bool is_dense(const Value& value) { return !value.strides.empty(); }

// The common sizes of all operands; memory as the first operand of these sizes has it.
TensorType broadcast_all(const Bound& call) {
  TensorType result;
  bool first = true;
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    if (!is_operand(call.schema().parameters[i])) continue;
    const Value* operand = tensor_of(call.arguments()[i]);
    if (!operand || operand->kind != ValueKind::kTensor) continue;
    result.shape = first ? operand->shape : call.broadcast(result.shape, operand->shape);
    first = false;
  }
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    const Value* operand = tensor_of(call.arguments()[i]);
    if (!operand || operand->kind != ValueKind::kTensor) continue;
    if (operand->shape.size() != result.shape.size() || !is_dense(*operand)) continue;
    bool same = true;
    for (std::size_t axis = 0; axis < result.shape.size(); ++axis)
      same = same && operand->shape[axis] == result.shape[axis] && !operand->strides[axis].is(0);
    if (same) result.strides = operand->strides;
    break;
  }
  return result;
}

DType promoted(const Bound& call) {
  Promotion promotion;
  for (std::size_t i = 0; i < call.arguments().size(); ++i) {
    const Parameter& parameter = call.schema().parameters[i];
    if (parameter.name == "condition" || parameter.name == "mask") continue;
    if (is_operand(parameter) || is_number_operand(parameter)) promotion.add(call.arguments()[i]);
  }
  return promotion.dtype();
}

TensorTypes common(const Bound& call) {
  TensorType result = broadcast_all(call);
  result.dtype = promoted(call);
  return {result};
}

TensorTypes own(const Bound& call) {
  TensorType result = broadcast_all(call);
  result.dtype = call.self().dtype;
  return {result};
}

TensorTypes floating(const Bound& call) {
  TensorType result = broadcast_all(call);
  result.dtype = as_floating(promoted(call));
  return {result};
}

TensorTypes square(const Bound& call) {
  TensorType result = own(call).front();
  if (result.dtype == DType::kBool) result.dtype = DType::kInt64;
  return {result};
}

TensorTypes in_float64(const Bound& call) {
  TensorType result = broadcast_all(call);
  const bool is_complex = base::is_complex(promoted(call));
  result.dtype = is_complex ? DType::kComplex128 : DType::kFloat64;
  return {result};
}

TensorTypes truth(const Bound& call) {
  TensorType result = broadcast_all(call);
  result.dtype = DType::kBool;
  return {result};
}

TensorTypes divided(const Bound& call) {
  return call.has("rounding_mode") ? common(call) : floating(call);
}

TensorTypes magnitude(const Bound& call) {
  TensorType result = broadcast_all(call);
  result.dtype = base::real_of(call.self().dtype);
  return {result};
}

// x.to(dtype), x.to(other), x.float(), ...
TensorTypes converted(const Bound& call) {
  TensorType result = like(call.self());
  if (const auto dtype = call.dtype()) result.dtype = *dtype;
  if (const Value* other = call.optional_tensor("other")) result.dtype = other->dtype;
  return {result};
}

TensorTypes softmax(const Bound& call) {
  TensorType result = like(call.self(), call.self().shape);
  result.dtype = call.dtype().value_or(call.self().dtype);
  return {result};
}

TensorTypes plain_copy(const Bound& call) { return {like(call.self(), call.self().shape)}; }

// real(x), imag(x), angle(x)
TensorTypes real_part(const Bound& call) {
  TensorType result = like(call.self(), call.self().shape);
  result.dtype = base::real_of(call.self().dtype);
  return {result};
}

TensorTypes angle(const Bound& call) {
  TensorType result = real_part(call).front();
  result.dtype = as_floating(result.dtype);
  return {result};
}

TensorTypes made_complex(const Bound& call) {
  TensorType result = broadcast_all(call);
  result.dtype = base::complex_of(promoted(call));
  return {result};
}

TensorTypes is_in(const Bound& call) {
  const Value* elements = call.optional_tensor("elements");
  return {{DType::kBool, elements ? elements->shape : Sizes{}, {}}};
}

TensorTypes pairs_of_numbers(const Bound& call) {
  TensorType result = like(call.self(), call.self().shape);
  result.dtype = base::real_of(call.self().dtype);
  result.shape.emplace_back(2);
  return {result};
}

TensorTypes numbers_of_pairs(const Bound& call) {
  TensorType result = like(call.self(), call.self().shape);
  if (result.shape.empty()) call.refuse("its last dimension holds no pairs");
  result.dtype = base::complex_of(call.self().dtype);
  result.shape.pop_back();
  return {result};
}

constexpr ResultRow kRows[] = {
    {"add sub mul rsub remainder fmod maximum minimum fmax fmin pow clamp clamp_min clamp_max "
     "clip floor_divide bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift "
     "__and__ __or__ __xor__ __lshift__ __rshift__ addcmul addcdiv lerp where subtract multiply "
     "hypot heaviside logaddexp logaddexp2 gcd lcm nextafter igamma igammac "
     "special_gammainc special_gammaincc",
     common},
    {"relu relu6 hardtanh neg negative floor ceil round trunc frac sign bitwise_not "
     "leaky_relu elu selu celu gelu silu mish hardswish hardsigmoid softplus softshrink hardshrink "
     "threshold nan_to_num clone detach alias dropout feature_dropout alpha_dropout "
     "feature_alpha_dropout log_sigmoid rrelu positive fill "
     "masked_fill tril triu resolve_conj resolve_neg lift lift_fresh lift_fresh_copy "
     "conj conj_physical sgn fix msort special_round data",
     own},
    {"sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 "
     "log1p sqrt rsqrt sigmoid copysign erf erfc erfinv reciprocal atan2 lgamma digamma "
     "true_divide deg2rad "
     "rad2deg special_expit special_erf xlogy special_entr sinc arctan arcsin arccos arctan2 "
     "arccosh arcsinh arctanh i0 ldexp logit special_logit special_digamma special_psi "
     "special_erfc "
     "special_erfinv special_erfcx special_exp2 special_expm1 special_gammaln special_i0 "
     "special_i0e special_i1 special_i1e special_log1p special_ndtr special_ndtri "
     "special_log_ndtr special_sinc special_bessel_j0 special_bessel_j1 special_bessel_y0 "
     "special_bessel_y1 special_modified_bessel_i0 special_modified_bessel_i1 "
     "special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0 "
     "special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_airy_ai "
     "special_xlogy special_xlog1py special_zeta mvlgamma special_multigammaln polygamma "
     "special_polygamma",
     floating},
    {"square", square},
    {"float_power", in_float64},
    {"div divide", divided},
    {"abs absolute", magnitude},
    {"eq ne lt le gt ge not_equal greater greater_equal less less_equal logical_and logical_or "
     "logical_xor logical_not isnan isinf isfinite isposinf isneginf isclose signbit isreal",
     truth},
    {"to _to_copy type_as float double half bfloat16 long int short char byte bool cpu cuda "
     "to_dense _autocast_to_full_precision _autocast_to_reduced_precision",
     converted},
    {"softmax log_softmax _softmax _log_softmax softmin special_softmax special_log_softmax "
     "_safe_softmax",
     softmax},
    {"real imag", real_part},
    {"angle", angle},
    {"complex polar", made_complex},
    {"isin", is_in},
    {"view_as_real", pairs_of_numbers},
    {"view_as_complex", numbers_of_pairs},
    {"contiguous flip fliplr flipud roll native_channel_shuffle batch_norm layer_norm group_norm "
     "instance_norm rms_norm "
     "local_response_norm renorm channel_shuffle prelu binomial _sample_dirichlet _standard_gamma "
     "poisson",
     plain_copy},
};

}  // namespace

std::span<const ResultRow> elementwise_results() { return kRows; }

}  // namespace sardonyx::program

#include "functionalize/autocast.h"

#include <optional>
#include <string_view>
#include <unordered_set>

#include "program/regions.h"

namespace sardonyx::functionalize {
namespace {

using base::DType;
using program::Argument;
using program::Call;
using program::Program;
using program::Value;

using Operators = std::unordered_set<std::string_view>;

// Run in the lower precision on every device.
const Operators& lowered() {
  static const Operators kNames = {
      "_convolution", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
      "conv_transpose2d", "conv_transpose3d", "convolution", "addmm", "addbmm", "baddbmm", "bmm",
      "mm", "matmul", "linear", "linalg_vecdot", "linalg_multi_dot", "chain_matmul",
      "scaled_dot_product_attention", "_native_multi_head_attention", "_addmm_activation",
      // Multiplies matrices inside.
      "einsum"};
  return kNames;
}

const Operators& lowered_on_cuda() {
  static const Operators kNames = {"prelu",     "addmv",    "addr",          "mv",
                                   "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"};
  return kNames;
}

const Operators& full_precision() {
  static const Operators kNames = {"binary_cross_entropy_with_logits",
                                   "cdist",
                                   "cosine_embedding_loss",
                                   "hinge_embedding_loss",
                                   "huber_loss",
                                   "kl_div",
                                   "l1_loss",
                                   "margin_ranking_loss",
                                   "mse_loss",
                                   "multi_margin_loss",
                                   "multilabel_margin_loss",
                                   "nll_loss",
                                   "nll_loss2d",
                                   "poisson_nll_loss",
                                   "prod",
                                   "smooth_l1_loss",
                                   "soft_margin_loss",
                                   "triplet_margin_loss"};
  return kNames;
}

const Operators& full_precision_on_cuda() {
  static const Operators kNames = {"acos",
                                   "asin",
                                   "cosh",
                                   "erfinv",
                                   "exp",
                                   "expm1",
                                   "log",
                                   "log10",
                                   "log2",
                                   "log1p",
                                   "reciprocal",
                                   "rsqrt",
                                   "sinh",
                                   "tan",
                                   "pow",
                                   "softplus",
                                   "layer_norm",
                                   "native_layer_norm",
                                   "group_norm",
                                   "frobenius_norm",
                                   "nuclear_norm",
                                   "cosine_similarity",
                                   "dist",
                                   "pdist",
                                   "renorm",
                                   "logsumexp",
                                   "softmax",
                                   "log_softmax",
                                   "cumprod",
                                   "cumsum",
                                   "linalg_vector_norm",
                                   "linalg_matrix_norm",
                                   "norm",
                                   "sum",
                                   "upsample_nearest1d",
                                   "upsample_nearest2d",
                                   "upsample_nearest3d",
                                   "upsample_linear1d",
                                   "upsample_bilinear2d",
                                   "upsample_trilinear3d",
                                   "upsample_bicubic2d"};
  return kNames;
}

const Operators& full_precision_on_cpu() {
  static const Operators kNames = {"adaptive_avg_pool3d",
                                   "adaptive_max_pool3d",
                                   "avg_pool3d",
                                   "binary_cross_entropy",
                                   "cholesky",
                                   "cholesky_inverse",
                                   "cholesky_solve",
                                   "cross_entropy_loss",
                                   "ctc_loss",
                                   "geqrf",
                                   "grid_sampler",
                                   "inverse",
                                   "linalg_cholesky",
                                   "linalg_cond",
                                   "linalg_eigh",
                                   "linalg_eigvals",
                                   "linalg_eigvalsh",
                                   "linalg_householder_product",
                                   "linalg_inv",
                                   "linalg_matrix_norm",
                                   "linalg_matrix_rank",
                                   "linalg_qr",
                                   "linalg_solve",
                                   "linalg_svdvals",
                                   "linalg_tensorinv",
                                   "linalg_tensorsolve",
                                   "logdet",
                                   "lu_solve",
                                   "max_pool3d",
                                   "max_unpool2d",
                                   "max_unpool3d",
                                   "nanquantile",
                                   "orgqr",
                                   "ormqr",
                                   "pinverse",
                                   "polar",
                                   "quantile",
                                   "reflection_pad1d",
                                   "reflection_pad2d",
                                   "replication_pad1d",
                                   "replication_pad2d",
                                   "replication_pad3d",
                                   "stft",
                                   "trace",
                                   "view_as_complex"};
  return kNames;
}

// Run in the widest type among their arguments.
const Operators& widest() {
  static const Operators kNames = {"cat",       "stack",     "index_copy", "addcdiv", "addcmul",
                                   "atan2",     "bilinear",  "cross",      "dot",     "vdot",
                                   "index_put", "tensordot", "scatter_add"};
  return kNames;
}

bool eligible(const Value* value) {
  return value && value->kind == program::ValueKind::kTensor && base::is_floating(value->dtype) &&
         value->dtype != DType::kFloat64;
}

// The call says itself what type it makes.
bool names_dtype(const Call& call) {
  const std::string_view name = call.schema->base_name();
  if (name == "to" || name == "type_as" || name == "_to_copy" || name == "_assert_tensor_metadata")
    return true;
  return call.schema->find("dtype") && !call.argument("dtype").is_none();
}

DType widest_argument(const Call& call) {
  DType result = DType::kUndefined;
  for (const Argument& argument : call.arguments) {
    argument.each_value([&](const Value* value) {
      if (!eligible(value)) return;
      result = result == DType::kUndefined ? value->dtype : base::promote(result, value->dtype);
    });
  }
  return result;
}

// What the captured result's type tells of an operator that no list names, such as a composite that
// multiplies matrices inside.
std::optional<DType> told_by_result(const Call& call, const Autocast& autocast) {
  if (names_dtype(call) || call.outputs.empty() || !eligible(call.outputs[0])) return std::nullopt;
  const DType result = call.outputs[0]->dtype;
  const DType given = widest_argument(call);
  if (given == DType::kUndefined || given == result) return std::nullopt;
  if (result == autocast.dtype || result == DType::kFloat32) return result;
  return std::nullopt;
}

std::optional<DType> listed_dtype(const Call& call, const Autocast& autocast) {
  if (call.schema->space() != "aten") return std::nullopt;
  const std::string_view name = call.schema->base_name();
  if (lowered().contains(name)) return autocast.dtype;
  if (autocast.cuda && lowered_on_cuda().contains(name)) return autocast.dtype;
  if (full_precision().contains(name) || name.starts_with("fft_")) return DType::kFloat32;
  const Operators& full = autocast.cuda ? full_precision_on_cuda() : full_precision_on_cpu();
  if (full.contains(name)) return DType::kFloat32;
  if (widest().contains(name)) return widest_argument(call);
  return std::nullopt;
}

void cast(Program& program, Value*& value, DType dtype, const Call& around,
          std::vector<Call*>& calls) {
  static const program::Schema* const kTo = program::find_schema("aten::to.dtype");
  Call* call = program.add_call();
  call->schema = kTo;
  call->arguments = program::bind(*kTo, {}, {{"self", value}, {"dtype", dtype}});
  call->source = around.source;
  Value* result = program.add_value();
  result->name = value->name + "_" + std::string(base::dtype_name(dtype));
  result->dtype = dtype;
  result->shape = value->shape;
  result->strides = value->strides;
  result->producer = call;
  call->name = result->name;
  call->outputs.push_back(result);
  calls.push_back(call);
  value = result;
}

}  // namespace

namespace {

Autocast autocast_from(const Argument& device_type, const Argument& dtype,
                       const Argument& enabled) {
  Autocast autocast;
  const bool* is_enabled = enabled.get<bool>();
  autocast.enabled = is_enabled && *is_enabled;
  const std::string* device = device_type.get<std::string>();
  autocast.cuda = device && *device == "cuda";
  const DType* given = dtype.get<DType>();
  autocast.dtype = given ? *given : autocast.cuda ? DType::kFloat16 : DType::kBFloat16;
  return autocast;
}

}  // namespace

Autocast autocast_of(const Call& call, const Autocast& around) {
  if (call.schema->base_name() != "wrap_with_autocast") return around;
  return autocast_from(call.argument("device_type"), call.argument("dtype"),
                       call.argument("enabled"));
}

Autocast autocast_entered(const Call& call) {
  const auto at = [&](std::size_t i) {
    return i < call.arguments.size() ? call.arguments[i] : Argument();
  };
  return autocast_from(at(0), at(1), at(2));
}

namespace {

bool any_of_them(const Call& call, const Retyped& retyped) {
  bool found = false;
  for (const Argument& argument : call.arguments) {
    argument.each_value([&](const Value* value) { found |= retyped.contains(value); });
  }
  return found;
}

// What an operator outside the lists returns for arguments of the types at hand.
DType followed(const Call& call) {
  const bool normalises = call.schema->base_name().ends_with("_norm");
  Value* const* input = call.arguments.empty() ? nullptr : call.arguments[0].get<Value*>();
  if (normalises && input && eligible(*input)) return (*input)->dtype;
  return widest_argument(call);
}

void retype(const Call& call, DType dtype, Retyped& retyped) {
  if (dtype == DType::kUndefined || names_dtype(call)) return;
  for (Value* output : call.outputs) {
    if (!output || !eligible(output) || output->dtype == dtype) continue;
    output->dtype = dtype;
    retyped.insert(output);
  }
}

}  // namespace

void insert_casts(Program& program, Call& call, const Autocast& autocast, Retyped& retyped,
                  std::vector<Call*>& calls) {
  // Control flow hands on what it is given; the casts are made in its bodies.
  if (program::holds_bodies(call)) return;
  const bool follows = !retyped.empty() && any_of_them(call, retyped);
  if (!autocast.enabled || call.schema->mutates()) {
    if (follows) retype(call, followed(call), retyped);
    return;
  }
  const auto listed = listed_dtype(call, autocast);
  const auto dtype = listed || follows ? listed : told_by_result(call, autocast);
  if (!dtype || *dtype == DType::kUndefined) {
    if (follows) retype(call, followed(call), retyped);
    return;
  }
  for (Argument& argument : call.arguments) {
    argument.each_value([&](Value*& value) {
      if (eligible(value) && value->dtype != *dtype) cast(program, value, *dtype, call, calls);
    });
  }
  retype(call, *dtype, retyped);
}

}  // namespace sardonyx::functionalize

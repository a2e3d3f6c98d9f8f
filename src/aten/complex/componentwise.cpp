#include "aten/complex/componentwise.h"

#include <algorithm>
#include <bit>
#include <numbers>

#include "aten/complex/math.h"

namespace sardonyx::aten {
namespace {

bool named(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Arguments that hold elements of the result, and are zero in the imaginary part where they are
// real.
bool is_data(std::string_view argument) {
  static constexpr std::string_view kNames[] = {
      "self",  "other", "tensors", "tensor",  "src",    "source", "input",
      "value", "end",   "values",  "prepend", "append", "start",  "A",
  };
  return named(kNames, argument);
}
bool is_data_number(std::string_view argument) {
  static constexpr std::string_view kNames[] = {"value", "fill_value", "fill", "s",
                                                "start", "end",        "self", "other"};
  return named(kNames, argument);
}

Outputs in_real_numbers(const Call& call, Emit& onnx, const RealView& view) {
  const Translator translate = find_translator(call.op(), false);
  if (!translate) {
    base::fail("SX1300", "no translation of " + call.op() + " for complex tensors",
               "do it on the real and the imaginary part");
  }
  return translate(call.as_real(view), onnx);
}

Scalar real_number(std::string_view argument, const Scalar& number) {
  if (number.is_complex() && number.as_complex().imag() != 0) {
    base::fail("SX1301", "argument '" + std::string(argument) + "' is a complex number");
  }
  return number.is_complex() ? Scalar(number.as_double()) : number;
}

bool result_is_complex(const Call& call, std::size_t i) {
  return call.uses_output(i) && base::is_complex(call.result_dtype(i));
}

bool any_complex_result(const Call& call) {
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    if (result_is_complex(call, i)) return true;
  }
  return false;
}

// Complex results from both runs; real ones (indices, masks) from the first.
Outputs combined(const Call& call, Emit& onnx, const Outputs& reals, const Outputs& imaginaries) {
  Outputs results;
  for (std::size_t i = 0; i < reals.size(); ++i) {
    const bool complex = result_is_complex(call, i) && reals[i];
    results.push_back(complex ? from_parts(onnx, reals[i], imaginaries[i]) : reals[i]);
  }
  return results;
}

// T(re) + i T(im)
Outputs componentwise(const Call& call, Emit& onnx) {
  const Outputs reals = on_parts(call, onnx, Part::kReal);
  if (!any_complex_result(call)) return reals;
  return combined(call, onnx, reals, on_parts(call, onnx, Part::kImaginary));
}

// Numbers of variance 1, half of which is each part's.
Outputs normal_parts(const Call& call, Emit& onnx) {
  if (!any_complex_result(call)) return on_parts(call, onnx, Part::kReal);
  const auto part = [&](Part which) {
    Outputs numbers = on_parts(call, onnx, which);
    for (Value& x : numbers) x = onnx.mul(x, onnx.scalar(std::numbers::sqrt2 / 2, x.dtype()));
    return numbers;
  };
  return combined(call, onnx, part(Part::kReal), part(Part::kImaginary));
}

// What has a real value whatever its type: ones, an identity matrix.
Outputs real_valued(const Call& call, Emit& onnx) {
  const Outputs reals = on_parts(call, onnx, Part::kReal);
  Outputs zeros;
  for (const Value real : reals) {
    zeros.push_back(onnx.full(real.shape(), onnx.zero(real.dtype())));
  }
  return combined(call, onnx, reals, zeros);
}

// Asks whether numbers are zero, and nothing else.
Outputs of_truth(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const RealView view{[&](std::string_view, std::size_t, Value x) {
                        if (!x || !x.is_complex()) return x;
                        return onnx.not_(math.is_zero(parts_of(onnx, x)));
                      },
                      real_number};
  return in_real_numbers(call, onnx, view);
}

// Works with the magnitudes.
Outputs of_magnitude(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const RealView view{[&](std::string_view, std::size_t, Value x) {
                        return x && x.is_complex() ? math.abs(parts_of(onnx, x)) : x;
                      },
                      real_number};
  return in_real_numbers(call, onnx, view);
}

// --- linear in each of several operands

struct Factor {
  std::string_view argument;
  std::size_t position;

  friend bool operator==(const Factor&, const Factor&) = default;
};

// The complex operands, but for a bias, which is added.
std::vector<Factor> complex_factors(const Call& call) {
  std::vector<Factor> factors;
  for (const program::Parameter& parameter : call.captured().schema->parameters) {
    if (parameter.type.kind != program::TypeKind::kTensor || parameter.name == "bias") continue;
    const std::vector<Value> operands = call.optional_tensors(parameter.name);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i] && operands[i].is_complex()) factors.push_back({parameter.name, i});
    }
  }
  return factors;
}

// One product of parts; bit i of `chosen` takes the imaginary part of factor i.
Value product(const Call& call, Emit& onnx, const std::vector<Factor>& factors, unsigned chosen,
              Value bias) {
  const RealView view{[&](std::string_view argument, std::size_t position, Value x) -> Value {
                        if (argument == "bias") return bias;
                        const auto at = std::ranges::find(factors, Factor{argument, position});
                        if (at == factors.end()) return x;
                        const Parts parts = parts_of(onnx, x);
                        return (chosen >> (at - factors.begin()) & 1U) != 0 ? parts.imaginary
                                                                            : parts.real;
                      },
                      real_number};
  return in_real_numbers(call, onnx, view).front();
}

// The products with a power of i each, real and imaginary ones summed: i^2 = -1.
Outputs multilinear(const Call& call, Emit& onnx) {
  const std::vector<Factor> factors = complex_factors(call);
  if (factors.size() > 4) {
    call.refuse("a product of " + std::to_string(factors.size()) + " complex tensors",
                "multiply a few of them at a time");
  }
  const bool biased = call.captured().schema->find("bias") && call.has("bias");
  const Parts bias = biased ? parts_of(onnx, call.tensor("bias")) : Parts{};
  Parts sum;
  for (unsigned chosen = 0; chosen < (1U << factors.size()); ++chosen) {
    const unsigned power = static_cast<unsigned>(std::popcount(chosen));
    Value& into = power % 2 == 0 ? sum.real : sum.imaginary;
    const Value own_bias = into ? Value{} : power % 2 == 0 ? bias.real : bias.imaginary;
    const Value term = product(call, onnx, factors, chosen, own_bias);
    into = !into ? term : power % 4 < 2 ? onnx.add(into, term) : onnx.sub(into, term);
  }
  if (!sum.imaginary) sum.imaginary = onnx.full(sum.real.shape(), onnx.zero(sum.real.dtype()));
  return {from_parts(onnx, sum.real, sum.imaginary)};
}

// The translator for real tensors knows complex ones as well.
Outputs alike(const Call& call, Emit& onnx) {
  return find_translator(call.op(), false)(call, onnx);
}

struct Way {
  std::string_view name;  // without overload
  Translator translate;
};

constexpr Way kWays[] = {
    {"_cholesky_solve_helper", alike},
    {"_chunk_cat", componentwise},
    {"_fft_c2c", alike},
    {"_fft_c2r", alike},
    {"_fft_r2c", alike},
    {"_linalg_check_errors", alike},
    {"_linalg_det", alike},
    {"_linalg_eigh", alike},
    {"_linalg_eigvals", alike},
    {"_linalg_slogdet", alike},
    {"_linalg_solve_ex", alike},
    {"_linalg_svd", alike},
    {"_lu_with_info", alike},
    {"_reshape_alias", componentwise},
    {"_reshape_copy", componentwise},
    {"_stack", componentwise},
    {"_unsafe_index", componentwise},
    {"_unsafe_index_put", componentwise},
    {"_unsafe_masked_index", componentwise},
    {"_unsafe_masked_index_put_accumulate", componentwise},
    {"_unsafe_view", componentwise},
    {"all", of_truth},
    {"any", of_truth},
    {"argwhere", of_truth},
    {"as_strided", componentwise},
    {"as_strided_copy", componentwise},
    {"as_strided_scatter", componentwise},
    {"atleast_1d", componentwise},
    {"atleast_2d", componentwise},
    {"atleast_3d", componentwise},
    {"block_diag", componentwise},
    {"bmm", multilinear},
    {"broadcast_tensors", componentwise},
    {"broadcast_to", componentwise},
    {"cartesian_prod", componentwise},
    {"cat", componentwise},
    {"chain_matmul", alike},
    {"channel_shuffle", componentwise},
    {"cholesky", alike},
    {"cholesky_inverse", alike},
    {"cholesky_solve", alike},
    {"chunk", componentwise},
    {"column_stack", componentwise},
    {"combinations", componentwise},
    {"concat", componentwise},
    {"concatenate", componentwise},
    {"constant_pad_nd", componentwise},
    {"conv1d", multilinear},
    {"conv2d", multilinear},
    {"conv3d", multilinear},
    {"conv_transpose1d", multilinear},
    {"conv_transpose2d", multilinear},
    {"conv_transpose3d", multilinear},
    {"convolution", multilinear},
    {"copy", componentwise},
    {"count_nonzero", of_truth},
    {"cross", multilinear},
    {"cumsum", componentwise},
    {"cumulative_trapezoid", multilinear},
    {"det", alike},
    {"diag", componentwise},
    {"diag_embed", componentwise},
    {"diagflat", componentwise},
    {"diagonal", componentwise},
    {"diagonal_copy", componentwise},
    {"diagonal_scatter", componentwise},
    {"diff", componentwise},
    {"dot", multilinear},
    {"dropout", componentwise},
    {"dsplit", componentwise},
    {"dstack", componentwise},
    {"einsum", multilinear},
    {"empty", componentwise},
    {"empty_like", componentwise},
    {"empty_permuted", componentwise},
    {"empty_strided", componentwise},
    {"expand", componentwise},
    {"expand_as", componentwise},
    {"expand_copy", componentwise},
    {"eye", real_valued},
    {"feature_alpha_dropout", componentwise},
    {"feature_dropout", componentwise},
    {"fft_fft", alike},
    {"fft_fft2", alike},
    {"fft_fftn", alike},
    {"fft_fftshift", alike},
    {"fft_hfft", alike},
    {"fft_hfft2", alike},
    {"fft_hfftn", alike},
    {"fft_ifft", alike},
    {"fft_ifft2", alike},
    {"fft_ifftn", alike},
    {"fft_ifftshift", alike},
    {"fft_ihfft", alike},
    {"fft_ihfft2", alike},
    {"fft_ihfftn", alike},
    {"fft_irfft", alike},
    {"fft_irfft2", alike},
    {"fft_irfftn", alike},
    {"fft_rfft", alike},
    {"fft_rfft2", alike},
    {"fft_rfftn", alike},
    {"fill", componentwise},
    {"flatten", componentwise},
    {"flip", componentwise},
    {"fliplr", componentwise},
    {"flipud", componentwise},
    {"frobenius_norm", alike},
    {"full", componentwise},
    {"full_like", componentwise},
    {"gather", componentwise},
    {"geqrf", alike},
    {"ger", multilinear},
    {"hsplit", componentwise},
    {"hstack", componentwise},
    {"im2col", componentwise},
    {"index", componentwise},
    {"index_add", componentwise},
    {"index_copy", componentwise},
    {"index_fill", componentwise},
    {"index_put", componentwise},
    {"index_select", componentwise},
    {"inner", multilinear},
    {"inverse", alike},
    {"is_nonzero", of_truth},
    {"istft", alike},
    {"kron", multilinear},
    {"linalg_cholesky", alike},
    {"linalg_cholesky_ex", alike},
    {"linalg_cond", alike},
    {"linalg_cross", multilinear},
    {"linalg_det", alike},
    {"linalg_diagonal", componentwise},
    {"linalg_eig", alike},
    {"linalg_eigh", alike},
    {"linalg_eigvals", alike},
    {"linalg_eigvalsh", alike},
    {"linalg_householder_product", alike},
    {"linalg_inv", alike},
    {"linalg_inv_ex", alike},
    {"linalg_ldl_factor", alike},
    {"linalg_ldl_factor_ex", alike},
    {"linalg_ldl_solve", alike},
    {"linalg_lstsq", alike},
    {"linalg_lu", alike},
    {"linalg_lu_factor", alike},
    {"linalg_lu_factor_ex", alike},
    {"linalg_lu_solve", alike},
    {"linalg_matmul", alike},
    {"linalg_matrix_exp", alike},
    {"linalg_matrix_norm", alike},
    {"linalg_matrix_power", alike},
    {"linalg_matrix_rank", alike},
    {"linalg_multi_dot", alike},
    {"linalg_norm", alike},
    {"linalg_pinv", alike},
    {"linalg_qr", alike},
    {"linalg_slogdet", alike},
    {"linalg_solve", alike},
    {"linalg_solve_ex", alike},
    {"linalg_solve_triangular", alike},
    {"linalg_svd", alike},
    {"linalg_svdvals", alike},
    {"linalg_tensorinv", alike},
    {"linalg_tensorsolve", alike},
    {"linalg_vecdot", alike},
    {"linalg_vector_norm", of_magnitude},
    {"linear", multilinear},
    {"linspace", componentwise},
    {"logdet", alike},
    {"logical_and", of_truth},
    {"logical_not", of_truth},
    {"logical_or", of_truth},
    {"logical_xor", of_truth},
    {"lu_solve", alike},
    {"lu_unpack", alike},
    {"mT", componentwise},
    {"masked_fill", componentwise},
    {"masked_scatter", componentwise},
    {"masked_select", componentwise},
    {"matmul", multilinear},
    {"matrix_H", componentwise},
    {"matrix_exp", alike},
    {"matrix_power", alike},
    {"mean", componentwise},
    {"meshgrid", componentwise},
    {"mm", multilinear},
    {"moveaxis", componentwise},
    {"movedim", componentwise},
    {"mv", multilinear},
    {"nan_to_num", componentwise},
    {"narrow", componentwise},
    {"narrow_copy", componentwise},
    {"native_channel_shuffle", componentwise},
    {"new_empty", componentwise},
    {"new_empty_strided", componentwise},
    {"new_full", componentwise},
    {"new_ones", real_valued},
    {"new_zeros", componentwise},
    {"nonzero", of_truth},
    {"nonzero_numpy", of_truth},
    {"nonzero_static", of_truth},
    {"norm", of_magnitude},
    {"nuclear_norm", alike},
    {"numpy_T", componentwise},
    {"ones", real_valued},
    {"ones_like", real_valued},
    {"orgqr", alike},
    {"ormqr", alike},
    {"outer", multilinear},
    {"pad", componentwise},
    {"permute", componentwise},
    {"permute_copy", componentwise},
    {"pinverse", alike},
    {"pixel_shuffle", componentwise},
    {"pixel_unshuffle", componentwise},
    {"put", componentwise},
    {"qr", alike},
    {"rand", componentwise},
    {"rand_like", componentwise},
    {"randn", normal_parts},
    {"randn_like", normal_parts},
    {"ravel", componentwise},
    {"reflection_pad1d", componentwise},
    {"reflection_pad2d", componentwise},
    {"reflection_pad3d", componentwise},
    {"repeat", componentwise},
    {"repeat_interleave", componentwise},
    {"replication_pad1d", componentwise},
    {"replication_pad2d", componentwise},
    {"replication_pad3d", componentwise},
    {"reshape", componentwise},
    {"reshape_as", componentwise},
    {"resize", componentwise},
    {"resize_as", componentwise},
    {"roll", componentwise},
    {"rot90", componentwise},
    {"row_stack", componentwise},
    {"scalar_tensor", componentwise},
    {"scatter", componentwise},
    {"scatter_add", componentwise},
    {"select", componentwise},
    {"select_copy", componentwise},
    {"select_scatter", componentwise},
    {"slice", componentwise},
    {"slice_copy", componentwise},
    {"slice_scatter", componentwise},
    {"slogdet", alike},
    {"split", componentwise},
    {"split_copy", componentwise},
    {"split_with_sizes", componentwise},
    {"split_with_sizes_copy", componentwise},
    {"squeeze", componentwise},
    {"squeeze_copy", componentwise},
    {"stack", componentwise},
    {"stft", alike},
    {"sum", componentwise},
    {"sum_to_size", componentwise},
    {"svd", alike},
    {"swapaxes", componentwise},
    {"swapdims", componentwise},
    {"sym_numel", componentwise},
    {"sym_size", componentwise},
    {"sym_storage_offset", componentwise},
    {"sym_stride", componentwise},
    {"t", componentwise},
    {"t_copy", componentwise},
    {"take", componentwise},
    {"take_along_dim", componentwise},
    {"tensor_split", componentwise},
    {"tensordot", multilinear},
    {"tile", componentwise},
    {"trace", componentwise},
    {"transpose", componentwise},
    {"transpose_copy", componentwise},
    {"trapezoid", multilinear},
    {"trapz", multilinear},
    {"triangular_solve", alike},
    {"tril", componentwise},
    {"triu", componentwise},
    {"unbind", componentwise},
    {"unbind_copy", componentwise},
    {"unflatten", componentwise},
    {"unfold", componentwise},
    {"unfold_copy", componentwise},
    {"uniform", componentwise},
    {"unsafe_chunk", componentwise},
    {"unsafe_split", componentwise},
    {"unsafe_split_with_sizes", componentwise},
    {"unsqueeze", componentwise},
    {"unsqueeze_copy", componentwise},
    {"view", componentwise},
    {"view_as", componentwise},
    {"view_copy", componentwise},
    {"vsplit", componentwise},
    {"vstack", componentwise},
    {"where", componentwise},
    {"zero", componentwise},
    {"zeros", componentwise},
    {"zeros_like", componentwise},
};

}  // namespace

Translator find_translator_by_parts(std::string_view qualified_name) {
  if (!qualified_name.starts_with("aten::")) return nullptr;
  std::string_view name = qualified_name.substr(6);
  name = name.substr(0, name.find('.'));
  const auto* const found = std::ranges::find(kWays, name, &Way::name);
  return found == std::end(kWays) ? nullptr : found->translate;
}

Outputs on_parts(const Call& call, Emit& onnx, Part part) {
  const bool imaginary = part == Part::kImaginary;
  const RealView view{[&](std::string_view argument, std::size_t, Value x) -> Value {
                        if (!x) return x;
                        if (x.is_complex()) {
                          const Parts parts = parts_of(onnx, x);
                          return imaginary ? parts.imaginary : parts.real;
                        }
                        if (!imaginary || !is_data(argument)) return x;
                        return onnx.full(x.shape(), onnx.zero(x.dtype()));
                      },
                      [&](std::string_view argument, const Scalar& number) -> Scalar {
                        if (!is_data_number(argument)) return real_number(argument, number);
                        const double real = number.is_complex() ? number.as_complex().real() : 0;
                        if (imaginary)
                          return number.is_complex() ? number.as_complex().imag() : 0.0;
                        return number.is_complex() ? Scalar(real) : number;
                      }};
  return in_real_numbers(call, onnx, view);
}

}  // namespace sardonyx::aten

"""Which family an ATen operator belongs to, by its name; the first pattern that matches wins."""

from __future__ import annotations

import re

# In the order of the listing. Patterns match the whole base name, without overload and without
# a trailing underscore.
FAMILIES: tuple[tuple[str, str], ...] = (
    ("backward forms", r".*(_backward|_backward_data|_double_backward|_jvp)"),
    ("fused steps over lists", r"_foreach_.*|_fused_(adam|adamw|sgd|adagrad)"),
    (
        "quantized",
        (
            r".*(quantize|qparams|quantized|int4pack|int8pack).*|_int_mm|_scaled_(grouped_)?mm.*"
            r"|_dyn_quant.*|int_repr|q_.*|_mixed_dtypes_linear|_weight_int.*|fbgemm.*"
        ),
    ),
    (
        "complex",
        (
            r"_?(neg|conj|reshape).*view|complex|polar|real|imag|view_as_(real|complex).*|angle"
            r"|_?conj.*|resolve_(conj|neg)|is_conj|sgn|_neg_view.*"
        ),
    ),
    ("spectral", r"_?fft_.*|stft|istft|.*_window"),
    (
        "linear algebra",
        (
            r"_?linalg_.*|cholesky.*|_cholesky.*|lu_.*|_lu_.*|qr|svd|det|logdet|slogdet|inverse|pinverse"
            r"|geqrf|orgqr|ormqr|triangular_solve|matrix_(exp|power|H)|_?compute_linear_combination"
            r"|chain_matmul|trace|norm_except_dim|nuclear_norm|frobenius_norm|vander"
        ),
    ),
    (
        "matrix products",
        (
            r"mm|bmm|addmm|addbmm|baddbmm|addmv|addr|mv|dot|vdot|matmul|linear|einsum|tensordot|inner"
            r"|outer|ger|kron|bilinear|_trilinear|_addmm_activation|_grouped_mm|cross|mkldnn_linear"
            r"|__rmatmul__|_transform_bias_rescale_qkv"
        ),
    ),
    (
        "attention",
        (
            r".*(attention|_multi_head).*|_transformer_encoder.*|_fused_sdp_choice|_safe_softmax"
            r"|_masked_softmax"
        ),
    ),
    (
        "recurrent",
        (
            r"lstm.*|gru.*|rnn_.*|_thnn_fused.*|quantized_(lstm|gru).*|_.*packed?_sequence"
            r"|_pad_packed_sequence|pad_sequence"
        ),
    ),
    (
        "convolution",
        (
            r"_?conv.*|thnn_conv.*|slow_conv.*|_slow_conv.*|mkldnn_conv.*|_nnpack_spatial.*"
            r"|col2im|im2col|unfold|unfold_copy"
        ),
    ),
    ("pooling", r".*(max_pool|avg_pool|max_unpool).*"),
    (
        "resampling",
        (
            r".*upsample.*|(cudnn_)?grid_sampler.*|_grid_sampler.*|affine_grid.*"
            r"|pixel_.*|.*channel_shuffle"
        ),
    ),
    (
        "normalization",
        (
            r".*(batch_norm|layer_norm|group_norm|instance_norm|rms_norm).*|renorm"
            r"|_weight_norm.*|native_norm"
        ),
    ),
    (
        "losses",
        (
            r".*_loss.*|kl_div|binary_cross_entropy.*|log_sigmoid.*|_?ctc.*|cosine_similarity"
            r"|cross_entropy.*"
        ),
    ),
    (
        "activations",
        (
            r"celu|elu|gelu|glu|hard(shrink|sigmoid|swish|tanh)|leaky_relu|mish|p?relu6?|_prelu_kernel"
            r"|rrelu.*|selu|sigmoid|silu|softplus|softshrink|tanhshrink|threshold|_?(log_)?softmax"
            r"|special_(log_)?softmax|softsign|logit"
        ),
    ),
    (
        "random",
        (
            r"bernoulli|binomial|cauchy|exponential|geometric|log_normal|multinomial|normal.*|poisson"
            r"|rand.*|uniform|.*dropout|random|_sample_dirichlet|_standard_gamma|_philox.*|_sobol.*"
        ),
    ),
    ("embedding", r".*embedding.*|one_hot"),
    (
        "scatter and gather",
        (
            r"index.*|_?index_put.*|gather|scatter.*|select|select_.*|.*_scatter|slice|slice_.*|take.*"
            r"|masked_.*|_unsafe_(masked_)?index.*|put|narrow.*|where|nonzero.*|argwhere|_unsafe_index.*"
            r"|segment_reduce|diagonal.*|fill|fill_diagonal|getitem|copy"
        ),
    ),
    (
        "sorting and searching",
        (
            r"sort|argsort|msort|topk|kthvalue|mode|median|nanmedian|searchsorted|bucketize|_?unique.*"
            r"|histc|histogram.*|_histogram.*|bincount|isin|(nan)?quantile|argmax|argmin|cummax|cummin"
            r"|aminmax|_aminmax"
        ),
    ),
    (
        "scans",
        r"cumsum|cumprod|_?logcumsumexp|cumulative_trapezoid|trapz|trapezoid|diff|gradient",
    ),
    (
        "reductions",
        (
            r"sum|nansum|mean|nanmean|prod|all|any|amax|amin|max|min|std|std_mean|var|var_mean|norm"
            r"|logsumexp|special_logsumexp|count_nonzero|sum_to_size|equal|allclose|cov|corrcoef|dist"
            r"|_is_all_true|_is_any_true|hash_tensor|native_norm"
        ),
    ),
    ("distances", r"_?cdist.*|_?pdist.*|pairwise_distance|_euclidean_dist|dist"),
    (
        "special functions",
        (
            r"special_.*|erf.*|lgamma|digamma|polygamma|mvlgamma|igamma.*|i0|sinc"
            r"|xlogy|nextafter|frexp"
        ),
    ),
    (
        "creation",
        (
            r"(new_)?(arange|empty|zeros|ones|full|eye|linspace|logspace|range|scalar_tensor)(_.*)?"
            r"|(tril|triu)_indices|cartesian_prod|combinations|meshgrid|tensor|lift.*|zero"
            r"|_efficientzerotensor|complex|from_file"
        ),
    ),
    (
        "shapes and views",
        (
            r"view.*|reshape.*|_reshape.*|flatten|unflatten|permute.*|transpose.*|t|t_copy|movedim|moveaxis"
            r"|swap(axes|dims)|squeeze.*|unsqueeze.*|expand.*|broadcast.*|repeat.*|tile|cat|concat.*"
            r"|stack|_stack|[hvd]stack|column_stack|row_stack|split.*|[hvd]split|chunk|tensor_split"
            r"|unbind.*|unsafe_.*|flip.*|roll|rot90|triu|tril|diag.*|as_strided.*|atleast_.*|ravel"
            r"|block_diag|constant_pad_nd|_?pad.*|re(flec|plica)tion_pad.*|numpy_T|m[TH]|adjoint"
            r"|_chunk_cat|_unsafe_view|resize.*|alias.*|contiguous|clone|detach.*|positive|set"
            r"|size|sym_.*|stride|numel|dim|_shape_as_tensor|values|lift|view_copy|trunc_.*"
        ),
    ),
    (
        "conversion",
        (
            r"to|_to_copy|_cast_.*|type_as|_autocast.*|bfloat16|half|float|double|_to_.*"
            r"|item|_local_scalar_dense|is_.*|result_type|can_cast|promote_types|cpu|cuda|pin_memory"
            r"|_pin_memory|_?data|chalf|to_.*"
        ),
    ),
    ("assertions", r"_?_?assert.*|_functional_(assert|sym).*|sym_constrain.*|_print|warn"),
    (
        "elementwise",
        (
            r"abs|absolute|acos|acosh|add|addcdiv|addcmul|arc.*|asin|asinh|atan.*|bitwise_.*|ceil|clamp.*"
            r"|clip|copysign|cosh?|deg2rad|div|divide|eq|exp.*|fix|float_power|floor.*|fmax|fmin|fmod"
            r"|frac|gcd|ge|greater.*|gt|heaviside|hypot|is(close|finite|inf|nan|neginf|posinf|real)|lcm"
            r"|ldexp|le|lerp|less.*|log.*|lt|maximum|minimum|mul|multiply|nan_to_num|ne|neg|negative"
            r"|not_equal|pow|rad2deg|reciprocal|remainder|round|rsqrt|rsub|sign|signbit|sinh?|sqrt"
            r"|square|sub|subtract|tanh?|true_divide|trunc|__.*__|_add_relu"
        ),
    ),
)

_COMPILED = tuple((family, re.compile(pattern)) for family, pattern in FAMILIES)

# Not tensor programs: strings, devices, autograd's own machinery, other back ends' kernels,
# sparse and nested layouts, tests of PyTorch itself.
_OUTSIDE = re.compile(
    r"_?(cudnn|miopen|mkldnn|mkl|mps|xnnpack|vulkan|cslt|cufft|nested|sparse|c10d|nnpack)_.*"
    r"|.*(sparse|nested|jagged|csr|csc|_coo|mkldnn|_mps|coalesced?|qengine|nnpack|triton).*"
    r"|_test_.*|_foobar|_fw_primal.*|_make_dual.*|_unpack_dual|.*autocast.*|.*_batch_dim|_use_.*"
    r"|_debug_.*|_has_.*|_propagate.*|_version|_nnz|_?indices(_copy)?|_?values(_copy)?"
    r"|(manual|initial)_seed|Generator|.*(owner|grad)$|wait|save|to_here|local_value|get.*|owner_name"
    r"|has_torch_function|device|confirmed_by_owner|_get_.*|_amp_.*|batch_norm_(elemt|gather|stats"
    r"|update).*|set_.*|output_nr|_make_dep_token|_dim[IV]|dense_dim|sparse_dim|dtype|layout"
    r"|(ccol|crow|col|row)_indices.*|is_(leaf|owner|scripting|grad_enabled|coalesced|distributed"
    r"|inference|pinned|set_to|vulkan_available).*|divmod|modf|factorial|degrees|radians|fabs|gamma"
    r"|math.*|_list_to_tensor|_tensor_to_list|_infer_size|__(is|isnot|not|interpolate|contains"
    r"|derive_index|range_length|round_to_zero_floordiv)__|_unwrap_optional|_size_if_not_equal"
    r"|(un)?flatten_dense_tensors|_lazy_clone|_copy_from.*|_resize_output|_rowwise_prune|qscheme"
    r"|_cudnn.*|_saturate.*|(Bool|Int|Float|Complex|Size)|.*Implicit|_no_grad_.*|_ncf_.*"
    r"|element_size|storage_offset|_spdiags|_spsolve|hspmm|smm|sspaddmm|_pin_memory|pin_memory"
    r"|.*_signed|_linalg_check_errors|_grad_sum_to_size|retains_grad|copy_sparse.*|as_tensor|title"
)


def family_of(base: str) -> str | None:
    """The family of a base name; None when it is no operator of tensor programs."""
    name = base.rstrip("_") if not base.endswith("__") else base
    if _OUTSIDE.fullmatch(name):
        return None
    for family, pattern in _COMPILED:
        if pattern.fullmatch(name):
            return family
    return "unsorted"

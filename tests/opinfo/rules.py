"""How answers are compared where eager PyTorch's own answer is one of several right ones.

Every operator not named here is compared value by value (`plain`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import mpmath
import torch

from sardonyx._compare.tolerances import Tolerance, of_operator
from tests.opinfo import mathematics
from tests.opinfo.compare import values_differ

if TYPE_CHECKING:
    from tests.opinfo.capture import Trial

Tensors = list[torch.Tensor]
# Given the trial and the model's outputs (dtypes and shapes already found right), says what is
# wrong, or None.
Rule = Callable[["Trial", Tensors], str | None]


def plain(trial: Trial, actual: Tensors) -> str | None:
    return _first_difference(trial.expected, actual)


def scaled(trial: Trial, actual: Tensors) -> str | None:
    """Sums of products: a small element among large ones carries the large ones' rounding."""
    return _first_difference(trial.expected, actual, scale=True)


def steps_in_float32(trial: Trial, actual: Tensors) -> str | None:
    """Eager on a CPU rounds the coordinates or statistics of half types step by step, which may
    pick another element or move all of them (on a GPU it computes in float32, as the model does):
    what it answers to the same inputs in float32 is right too."""
    reason = scaled(trial, actual)
    halves = all(t.dtype in (torch.float16, torch.bfloat16) for t in trial.expected)
    if reason is None or not halves or trial.in_float32 is None:
        return reason
    return _first_difference(trial.in_float32(), actual, scale=True) and reason


def poles(trial: Trial, actual: Tensors) -> str | None:
    """At a pole, a whole number below one, any large number will do for infinity: eager's trigamma
    divides by the square of sin(pi x) there, which float32 does not round to zero."""
    source, expected = trial.inputs[0].to(torch.float64), trial.expected[0]
    pole = (source <= 0) & (source == source.round())
    large = (actual[0].abs() > 1e6) & (expected.abs() > 1e6)
    return values_differ(torch.where(pole & large, expected, actual[0]), expected)


def steps_in_half(trial: Trial, actual: Tensors) -> str | None:
    """Eager rounds half types after each step of the formula, terms as large as the inputs, which
    cancel; the model computes it in float32. Four roundings of the largest input apart is right."""
    expected = trial.expected[0]
    if expected.dtype not in (torch.float16, torch.bfloat16) or not expected.numel():
        return plain(trial, actual)
    floats = [t.double().abs().max() for t in trial.inputs if t.is_floating_point() and t.numel()]
    roundings = 4 * torch.finfo(expected.dtype).eps / 2 * float(max(floats))
    tolerance = of_operator(expected.dtype)
    widened = Tolerance(tolerance.relative, tolerance.absolute + roundings)
    return values_differ(actual[0], expected, widened)


def sums_in_half(trial: Trial, actual: Tensors) -> str | None:
    """Eager rounds half types after each element that it adds to a place; the model adds them in
    float32. A sum of n terms may be off by n roundings of the sum of their magnitudes."""
    into, mask, *indices, values = trial.inputs
    if into.dtype not in (torch.float16, torch.bfloat16) or len(indices) != into.dim():
        return plain(trial, actual)
    add = torch.ops.aten._unsafe_masked_index_put_accumulate
    wide, terms = into.double().abs(), values.double().abs()
    magnitudes = add(wide, mask, indices, terms)
    counts = add(torch.zeros_like(wide), mask, indices, torch.ones_like(terms))
    allowed = counts * magnitudes * torch.finfo(into.dtype).eps / 2
    expected = trial.expected[0]
    near = (actual[0].double() - expected.double()).abs() <= allowed
    return values_differ(torch.where(near, expected, actual[0]), expected)


def exponential_in_float32(trial: Trial, actual: Tensors) -> str | None:
    """Eager's matrix_exp of half types overflows on its way, to NaN, where the answer would fit:
    there float32's answer is the right one."""
    expected = trial.expected[0]
    if expected.dtype not in (torch.float16, torch.bfloat16):
        return scaled(trial, actual)
    wide = torch.matrix_exp(trial.inputs[0].float()).to(expected.dtype)
    return values_differ(actual[0], torch.where(expected.isnan(), wide, expected), scaled=True)


def _first_difference(expected: Tensors, actual: Tensors, scale: bool = False) -> str | None:
    for position, (a, e) in enumerate(zip(actual, expected, strict=True)):
        reason = values_differ(a, e, scaled=scale)
        if reason:
            return f"output {position}: {reason}" if len(expected) > 1 else reason
    return None


# --- Random results: ONNX has generators of its own, so only what any draw must satisfy holds.


def drawn(low: float, high: float, integral: bool = False) -> Rule:
    """Values inside of [low, high], integers if they must be, and not all the same."""

    def rule(trial: Trial, actual: Tensors) -> str | None:
        for a, e in zip(actual, trial.expected, strict=True):
            values = torch.view_as_real(a) if a.is_complex() else a
            wide = values.to(torch.float64)
            if wide.isnan().any() or (wide < low).any() or (wide > high).any():
                return f"values: outside of [{low}, {high}]"
            if integral and not torch.equal(wide, wide.round()):
                return "values: not integral"
            varied = e.numel() >= 16 and len(set(e.flatten().tolist())) > 4
            if varied and len(set(wide.flatten().tolist())) == 1:
                return "values: all draws equal"
        return None

    return rule


INFINITY = float("inf")


def uniform(trial: Trial, actual: Tensors) -> str | None:
    """The samples of the operator database tell their ranges by their ranks."""
    low, high = {1: (-100, 100), 2: (0, 1), 3: (1, 2)}[trial.expected[0].dim()]
    return drawn(low, high)(trial, actual)


def categories(trial: Trial, actual: Tensors) -> str | None:
    """Places of weights, and none of a weight of nothing."""
    weights = trial.inputs[0]
    if reason := drawn(0, weights.shape[-1] - 1, integral=True)(trial, actual):
        return reason
    return None if (weights.gather(-1, actual[0]) > 0).all() else "values: a weight of nothing"


def uninitialized(trial: Trial, actual: Tensors) -> str | None:
    """Eager's values are whatever the memory held: only dtype and shape count."""
    return None


def dropped(trial: Trial, actual: Tensors) -> str | None:
    """Dropout in training mode: each element is zero or the input scaled up. The scale is read
    off eager's answer; an exporter may also leave dropout out, as inference does."""
    source, answer, result = trial.inputs[0], trial.expected[0], actual[0]
    if values_differ(result, answer) is None or values_differ(result, source) is None:
        return None
    kept = (answer != 0) & (source != 0)
    scales = answer[kept].double() / source[kept].double()  # each within a rounding of the true one
    scale = scales.mean() if kept.any() else 0.0
    zeroed = torch.where(result == 0, 0.0, source.double() * scale)
    return values_differ(result, zeroed.to(result.dtype))


def masked_by_noise(trial: Trial, actual: Tensors) -> str | None:
    """Alpha and feature dropout: the draw decides, finiteness is all that holds."""
    for a, e in zip(actual, trial.expected, strict=True):
        if bool(e.isfinite().all()) and not bool(a.isfinite().all()):
            return "values: not finite"
    return None


def picked_at_random(axes: int) -> Rule:
    """Pooling of random windows over the last axes: every value stands in its channel, at the index
    if that is given."""

    def rule(trial: Trial, actual: Tensors) -> str | None:
        plane, values = trial.inputs[0].flatten(-axes), actual[0].flatten(-axes)
        present = (values.unsqueeze(-1) == plane.unsqueeze(-2)).any(-1)
        if not present.all():
            return "values: not of the input"
        if len(actual) == 1:
            return None
        return values_differ(plane.gather(-1, actual[1].flatten(-axes)), values)

    return rule


def leaky_by_noise(trial: Trial, actual: Tensors) -> str | None:
    """rrelu: positive values pass; negative ones are scaled by a slope between its bounds."""
    source, result = trial.inputs[0], actual[0]
    passed = torch.where(source >= 0, source, result)
    reason = values_differ(result, passed)
    outside = (source < 0) & ((result > 0) | (result < source))
    return reason or ("values: slope outside of [0, 1]" if outside.any() else None)


def first_output_only(trial: Trial, actual: Tensors) -> str | None:
    """Fused attention: what follows the result is the kernel's own bookkeeping and seeds."""
    return values_differ(actual[0], trial.expected[0])


# --- Order among equals is the algorithm's choice.


def ties(trial: Trial, actual: Tensors) -> str | None:
    """Values must agree; an index may differ where it points at an equal value."""
    source, (values, indices) = trial.inputs[0], trial.expected
    reason = values_differ(actual[0], values)
    if reason or torch.equal(actual[1], indices):
        return reason
    for dim in range(source.dim()):
        if same := _picks(source, dim, indices, values):
            return None if same(actual[1]) else "values: an index points at another value"
    return plain(trial, actual)


def _picks(
    source: torch.Tensor, dim: int, indices: torch.Tensor, values: torch.Tensor
) -> Callable[[torch.Tensor], bool] | None:
    """A test whether indices along `dim` pick `values`, if eager's own indices do."""
    lost = indices.dim() < source.dim()
    picked = values.unsqueeze(dim) if lost else values

    def test(candidate: torch.Tensor) -> bool:
        index = candidate.unsqueeze(dim) if lost else candidate
        try:
            return values_differ(source.gather(dim, index), picked) is None
        except RuntimeError:
            return False

    return test if test(indices) else None


def ties_in_argsort(trial: Trial, actual: Tensors) -> str | None:
    """Only indices are returned: they must sort the input as eager's do."""
    source, indices = trial.inputs[0], trial.expected[0]
    if torch.equal(actual[0], indices) or source.dim() == 0:
        return values_differ(actual[0], indices)
    for dim in range(source.dim()):
        try:
            order = source.gather(dim, indices)
            if torch.equal(order.sort(dim).values, order) or torch.equal(
                order.sort(dim, descending=True).values, order
            ):
                return values_differ(source.gather(dim, actual[0]), order)
        except RuntimeError:
            continue
    return values_differ(actual[0], indices)


# --- Factorizations are unique up to signs, phases and bases of equal eigenvalues.


def reconstruction(rebuild: Callable[[Tensors], torch.Tensor], *exact: int) -> Rule:
    """The product of the factors must agree, and the outputs named by position value by value."""

    def rule(trial: Trial, actual: Tensors) -> str | None:
        for position in exact:
            reason = values_differ(actual[position], trial.expected[position], scaled=True)
            if reason:
                return f"output {position}: {reason}"
        if any(not t.numel() for t in trial.expected):
            return _first_difference([t.abs() for t in trial.expected], [t.abs() for t in actual])
        tolerance = of_operator(trial.expected[0].dtype).widened(4)
        return values_differ(rebuild(actual), rebuild(trial.expected), tolerance, scaled=True)

    return rule


def _svd_product(parts: Tensors) -> torch.Tensor:
    if len(parts) == 1:
        return parts[0]
    u, s, v = parts
    count = s.shape[-1]
    return (u[..., :count] * s.unsqueeze(-2).to(u.dtype)) @ v[..., :count, :]


def _old_svd_product(parts: Tensors) -> torch.Tensor:
    return _svd_product([parts[0], parts[1], parts[2].mH])


def projected(trial: Trial, actual: Tensors) -> str | None:
    """svd_lowrank of a b^T - M: which space of q dimensions its random start comes to is chance
    where the rank is above q. What holds for any: U and V have orthonormal columns, S descends,
    A^H U = V S (or A V = U S, where A is wide), and S has nearly the largest singular values."""
    a = trial.inputs[0] @ trial.inputs[1].mT
    if len(trial.inputs) > 2:
        a = a - trial.inputs[2]
    u, s, v = actual
    tolerance = of_operator(u.dtype).widened(4)
    for factor in (u, v):
        unit = torch.eye(s.shape[-1], dtype=u.dtype).expand(*s.shape, s.shape[-1])
        if reason := values_differ(factor.mH @ factor, unit, tolerance):
            return f"columns are not orthonormal: {reason}"
    if (s < 0).any() or not torch.equal(s.sort(-1, descending=True).values, s):
        return "singular values do not descend"
    scale = s.unsqueeze(-2).to(u.dtype)
    tall = values_differ(a.mH @ u, v * scale, tolerance, scaled=True)
    if tall and values_differ(a @ v, u * scale, tolerance, scaled=True):
        return f"A^H U is not V S: {tall}"
    best = torch.linalg.svdvals(a)[..., : s.shape[-1]].square().sum(-1)
    return "much of A is lost" if (s.square().sum(-1) < 0.8 * best).any() else None


def _eigh_product(parts: Tensors) -> torch.Tensor:
    w, v = parts
    return (v * w.unsqueeze(-2).to(v.dtype)) @ v.mH


def _product(parts: Tensors) -> torch.Tensor:
    return parts[0] @ parts[1]


# --- The table: the first pattern that matches the whole name wins.

_ANY = drawn(-INFINITY, INFINITY)
_RANDOM: list[tuple[str, Rule]] = [
    (r"bernoulli", drawn(0, 1, integral=True)),
    (r"uniform", uniform),
    (r"exponential|log_normal", drawn(0, INFINITY)),
    (r"geometric", drawn(1, INFINITY, integral=True)),
    (r"randint(_like)?", drawn(0, 9, integral=True)),
    (r"multinomial", categories),
    # The database's rand_like is randn_like; farther off is one draw in 10^22.
    (r"rand_like|randn(_like)?", drawn(-10, 10)),
    (r"cauchy|normal(\..*)?", _ANY),
    (r"empty(_like|_strided|_permuted)?|new_empty(_strided)?|resize_.*", uninitialized),
    (r"nn\.functional\.dropout[23]?d?", dropped),
    (r"nn\.functional\.(alpha_dropout|feature_alpha_dropout.*)", masked_by_noise),
    (r"nn\.functional\.fractional_max_pool2d", picked_at_random(2)),
    (r"nn\.functional\.fractional_max_pool3d", picked_at_random(3)),
    (r"nn\.functional\.rrelu", leaky_by_noise),
    (r"torch\.ops\.aten\._(flash|efficient)_attention_forward", first_output_only),
    (r"pca_lowrank", reconstruction(_old_svd_product)),
    (r"svd_lowrank", projected),
]
_DETERMINISTIC: list[tuple[str, Rule]] = [
    (r"(sort|topk|kthvalue|mode|(max|min)\.reduction_with_dim)", ties),
    (r"argsort", ties_in_argsort),
    (r"linalg\.svd", reconstruction(_svd_product, 1)),
    (r"svd", reconstruction(_old_svd_product, 1)),
    (r"linalg\.eigh", reconstruction(_eigh_product, 0)),
    (r"(linalg\.)?qr", reconstruction(_product)),
    (r"matrix_exp|linalg\.matrix_exp", exponential_in_float32),
    (r"linalg\.pinv\.singular", mathematics.pseudo_inverse),
    (r"linalg\.cholesky_ex", mathematics.cholesky_with_info),
    (r"signal\.windows\.kaiser", mathematics.kaiser),
    (r"special\.bessel_j0", mathematics.exactly(lambda x: mpmath.besselj(0, x))),
    (r"special\.bessel_j1", mathematics.exactly(lambda x: mpmath.besselj(1, x))),
    (r"special\.bessel_y0", mathematics.exactly(lambda x: mpmath.bessely(0, x))),
    (r"special\.bessel_y1", mathematics.exactly(lambda x: mpmath.bessely(1, x))),
    (r"special\.airy_ai", mathematics.exactly(mpmath.airyai)),
    (r"nn\.functional\.binary_cross_entropy_with_logits", steps_in_half),
    (r"_unsafe_masked_index_put_accumulate", sums_in_half),
    (r"nn\.functional\.conv.*", scaled),
    (r"(special\.)?polygamma.*", poles),
    (r"grid_sampler.*|nn\.functional\.(grid_sample|instance_norm)", steps_in_float32),
    (
        (
            r"linalg\..*|fft\..*|.*(mm|mv|matmul|__rmatmul__|einsum|tensordot|inner|conv).*"
            r"|nn\.functional\.(linear|bilinear|.*avg_pool.*|scaled_dot.*|multi_head.*|unfold|interpolate.*)"
            r"|i?stft|cov|corrcoef|cdist|cumsum|cumprod|sum|prod|mean|var.*|std.*|logdet"
            r"|cholesky.*|inverse|pinverse|matrix_exp|lu.*|addr|addbmm|dot|vdot|kron|gradient"
            r"|triangular_solve|ormqr|geqrf|polar|trapz|trapezoid|cumulative_trapezoid|dist"
            r"|_upsample.*|nn\.functional\.upsample.*"
        ),
        scaled,
    ),
]

# Operators whose sample decides whether anything is random: dropout probability above zero.
_MAYBE_RANDOM = re.compile(r"nn\.functional\.(scaled_dot_product|multi_head)_attention.*")


def is_random(op: str) -> bool:
    return any(re.fullmatch(pattern, op) for pattern, _ in _RANDOM)


def may_be_random(op: str) -> bool:
    """Whether the sample's arguments decide that anything is random."""
    return _MAYBE_RANDOM.fullmatch(op) is not None


def rule_for(op: str, random_arguments: bool = False) -> Rule:
    if random_arguments and may_be_random(op):
        return masked_by_noise
    for pattern, rule in _RANDOM + _DETERMINISTIC:
        if re.fullmatch(pattern, op):
            return rule
    return plain

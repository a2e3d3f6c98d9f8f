"""What random programs are made of: lines with holes.

Holes are filled with values that are there already:

    {x}  a float tensor                         {e}  an exact tensor of numbers
    {i}  an exact integer tensor                {b}  a bool tensor
    {t}  any tensor                             {m}  a tensor that may be written to
    {d}  a dim of the first tensor              {p}  1 to 4
    {k}  -3 to 5                                {s}  a float that has few bits

A value is exact where eager PyTorch and ONNX Runtime agree in every bit. What jumps (floor, a
comparison, a choice) takes exact values only, or rounding would show as a difference.
"""

from __future__ import annotations

from typing import NamedTuple


class Operator(NamedTuple):
    text: str
    is_exact: bool  # given exact values, what it makes is, too
    writes: bool = False


def _lines(text: str, is_exact: bool, writes: bool = False) -> list[Operator]:
    return [Operator(line.strip(), is_exact, writes) for line in text.strip().splitlines()]


ARITHMETIC = _lines(
    """
    {e} + {e}
    {e} - {e}
    {e} * {s}
    {e} * {e}
    {k} - {e}
    torch.add({e}, {e}, alpha={k})
    torch.sub({e}, {k}, alpha={k})
    torch.rsub({e}, {k})
    torch.mul({e}, {b})
    torch.neg({e})
    torch.abs({e})
    torch.relu({e})
    torch.sign({e})
    torch.square({e})
    torch.pow({e}, 2)
    torch.floor({e})
    torch.ceil({e})
    torch.trunc({e})
    torch.frac({e})
    torch.round({e})
    torch.floor_divide({e}, {p})
    torch.floor_divide({e}, {e})
    torch.remainder({e}, {p})
    torch.remainder({e}, {e})
    torch.fmod({e}, {p})
    torch.fmod({e}, {e})
    torch.div({e}, {p}, rounding_mode="floor")
    torch.div({e}, {e}, rounding_mode="trunc")
    torch.clamp({e}, -1, {p})
    torch.clamp({e}, min={s})
    torch.clamp({e}, max={e})
    torch.maximum({e}, {e})
    torch.minimum({e}, {e})
    torch.fmax({e}, {e})
    torch.nn.functional.hardtanh({e}, -1.0, 2.0)
    torch.nn.functional.leaky_relu({e}, 0.5)
    torch.nn.functional.threshold({e}, 0.5, 2.0)
    torch.nn.functional.relu6({e})
    torch.nan_to_num({e}, 1.0, 2.0, -2.0)
    torch.heaviside({e}, {e})
    torch.copysign({e}, {e})
    torch.lerp({x}, {x}, 0.5)
    torch.addcmul({e}, {e}, {e}, value=2)
    torch.where({b}, {e}, {e})
    torch.where({b}, {e}, {k})
    torch.masked_fill({e}, {b}, {k})
    torch.bitwise_and({i}, {i})
    torch.bitwise_xor({i}, {k})
    torch.bitwise_not({i})
    torch.gcd({i}, {i})
    {i} << {p}
    {i} >> {p}
    """,
    True,
)

ELEMENTARY = _lines(
    """
    torch.exp({x} * 0.5)
    torch.sigmoid({x})
    torch.tanh({x})
    torch.sin({x})
    torch.cos({x})
    torch.atan({x})
    torch.erf({x})
    torch.expm1({x})
    torch.log1p(torch.abs({x}))
    torch.sqrt(torch.abs({x}))
    torch.rsqrt(torch.abs({x}) + 1)
    torch.reciprocal(torch.abs({x}) + 1)
    torch.div({x}, {p})
    torch.true_divide({i}, {p})
    torch.nn.functional.gelu({x})
    torch.nn.functional.gelu({x}, approximate="tanh")
    torch.nn.functional.silu({x})
    torch.nn.functional.elu({x}, 0.5)
    torch.nn.functional.softplus({x})
    torch.nn.functional.mish({x})
    torch.nn.functional.hardswish({x})
    torch.nn.functional.celu({x}, 2.0)
    torch.nn.functional.logsigmoid({x})
    torch.softmax({x}, {d})
    torch.log_softmax({x}, {d})
    torch.logsumexp({x}, {d})
    torch.mean({x})
    torch.mean({x}, {d}, keepdim=True)
    torch.var({x}, {d})
    torch.std({x}, {d}, correction=0, keepdim=True)
    torch.linalg.vector_norm({x}, 2, {d})
    torch.norm({x})
    torch.cumsum({x}, {d})
    torch.logcumsumexp({x}, {d})
    torch.nn.functional.layer_norm({x}, {x}.shape[-1:])
    torch.nn.functional.normalize({x}, dim={d})
    torch.matmul({x}, {x}.mT)
    torch.matmul({x}, {x})
    torch.einsum("...i,...i->...", {x}, {x})
    torch.outer({x}.reshape(-1), {x}.reshape(-1))
    torch.addmm({x}, {x}, {x})
    torch.cosine_similarity({x}, {x}, dim={d})
    torch.nn.functional.mse_loss({x}, {x})
    torch.nn.functional.smooth_l1_loss({x}, {x}, reduction="sum")
    torch.cdist({x}, {x})
    torch.nn.functional.scaled_dot_product_attention({x}, {x}, {x})
    torch.nn.functional.avg_pool1d({x}, 2)
    torch.nn.functional.interpolate(torch.nan_to_num({x}), scale_factor=2.0, mode="linear")
    torch.nn.functional.glu({x}, {d})
    torch.nn.functional.pad({x}, (1, 1)) * 0.3
    """,
    False,
)

COMPARISONS = _lines(
    """
    {e} > {e}
    {e} <= {k}
    {e} == {e}
    {e} != 0
    torch.isnan({e})
    torch.isinf({e})
    torch.isfinite({e})
    torch.signbit({i})
    torch.logical_and({b}, {b})
    torch.logical_or({e}, {b})
    torch.logical_not({e})
    torch.logical_xor({b}, {b})
    torch.any({b}, {d})
    torch.all({b}, {d}, keepdim=True)
    torch.any({b})
    torch.isin({e}, torch.tensor([0, 1, 2]))
    {b} ^ {b}
    ~{b}
    torch.tril({b})
    """,
    True,
)

REDUCTIONS = _lines(
    """
    torch.sum({e})
    torch.sum({e}, {d})
    torch.sum({e}, {d}, keepdim=True)
    torch.sum({b}, {d})
    torch.sum({e}, dim=())
    torch.amax({e}, {d})
    torch.amin({e}, {d}, keepdim=True)
    torch.max({e})
    torch.max({e}, {d}).values
    torch.min({e}, {d}, keepdim=True).values
    torch.aminmax({e}, dim={d}).max
    torch.argmax({e}, {d})
    torch.argmin({e}, {d}, keepdim=True)
    torch.argmax({e})
    torch.prod({i}, {d})
    torch.cumsum({i}, {d})
    torch.cummax({e}, {d}).values
    torch.cummin({e}, {d}).indices
    torch.count_nonzero({e}, {d})
    torch.median({e}, {d}).values
    torch.sort({e}, {d}).values
    torch.sort({e}, {d}, descending=True).values
    torch.argsort({e}, {d}, stable=True)
    torch.topk({e}, 2, {d}).values
    torch.kthvalue({e}, 1, {d}).values
    torch.unique({i})
    torch.bincount({i}.reshape(-1).abs())
    torch.diff({e}, dim={d})
    torch.nansum({e}, {d})
    torch.histc({e}.float(), 4, -2, 2)
    torch.searchsorted(torch.tensor([-1.0, 0.0, 2.0]), {e}.float())
    """,
    True,
)

VIEWS = _lines(
    """
    {t}.reshape(-1)
    {t}.flatten()
    {t}.transpose({d}, 0)
    {t}.permute(*reversed(range({t}.dim())))
    {t}.mT
    {t}.unsqueeze({d})
    {t}.squeeze()
    {t}.squeeze({d})
    {t}.select({d}, 0)
    {t}.select({d}, -1)
    {t}.narrow({d}, 0, 2)
    {t}[1:]
    {t}[:-1]
    {t}[..., ::2]
    {t}[..., None]
    {t}[-2:, ...]
    {t}[..., 0]
    {t}.expand(2, *{t}.shape)
    {t}.expand_as({t})
    {t}.repeat(2, *[1] * {t}.dim())
    {t}.unflatten({d}, (-1, 1))
    {t}.unfold({d}, 2, 1)
    {t}.diagonal()
    {t}.view({t}.shape[0], -1)
    {t}.view(-1, {t}.shape[-1])
    {t}.movedim({d}, 0)
    {t}.chunk(2, {d})[0]
    {t}.split(2, {d})[-1]
    {t}.unbind({d})[0]
    {t}.clone()
    {t}.contiguous()
    {t}.detach()
    torch.flip({t}, [{d}])
    torch.roll({t}, {k}, {d})
    torch.rot90({t})
    torch.tile({t}, (2,))
    torch.cat([{t}, {t}], {d})
    torch.stack([{t}, {t}])
    torch.tril({t})
    torch.triu({t}, 1)
    torch.diag_embed({t})
    torch.broadcast_to({t}, (2, *{t}.shape))
    torch.nn.functional.pad({t}, (1, 2))
    torch.nn.functional.pad({t}, (-1, 1), value={k})
    torch.repeat_interleave({t}, 2, {d})
    torch.atleast_2d({t})
    torch.nn.functional.one_hot({i}.abs(), 9)
    torch.meshgrid({e}.reshape(-1), {e}.reshape(-1), indexing="ij")[1]
    """,
    True,
)

INDEXING = _lines(
    """
    {t}[{b}]
    {t}[[0, -1]]
    {t}[..., [0]]
    {t}[torch.arange({t}.shape[0]) // 2]
    {t}[:, None, [0, 0]]
    torch.index_select({t}, {d}, torch.tensor([0, 0]))
    torch.gather({t}, {d}, torch.zeros_like({t}, dtype=torch.int64))
    torch.take({t}, torch.tensor([0, -1]))
    torch.masked_select({t}, {b})
    torch.nonzero({e})
    torch.take_along_dim({e}, torch.argsort({e}, {d}, stable=True), {d})
    torch.scatter({e}, {d}, torch.zeros_like({e}, dtype=torch.int64), {k})
    torch.scatter_add({i}, {d}, torch.zeros_like({i}), {i})
    torch.index_add({e}, {d}, torch.tensor([0]), {e}.narrow({d}, 0, 1))
    torch.index_fill({e}, {d}, torch.tensor([-1]), {k})
    torch.index_put({e}, (torch.tensor([0]),), torch.tensor({k}, dtype={e}.dtype))
    torch.slice_scatter({e}, {e}[1:], 0, 1)
    torch.select_scatter({e}, {e}.select({d}, 0), {d}, -1)
    torch.embedding({x}, {i}.abs())
    """,
    True,
)

CREATION = _lines(
    """
    torch.arange({t}.shape[{d}])
    torch.arange({t}.numel()) * 2
    torch.zeros_like({t})
    torch.ones({t}.shape[{d}], {p})
    torch.full_like({e}, {k})
    torch.eye({t}.shape[{d}])
    torch.linspace(0, 1, {t}.shape[{d}] + 1) > 2
    torch.tensor([1.0, -2.0, 0.5])
    {t}.new_full(({p}, 2), {k})
    {t}.new_ones({t}.shape)
    {t}.shape[{d}] * {e}
    torch.scalar_tensor({k})
    """,
    True,
)

CASTS = _lines(
    """
    {e}.float()
    {e}.double()
    {e}.half()
    {e}.bfloat16()
    {i}.int()
    {i}.long()
    {e}.long()
    {e}.to(torch.int32)
    {e}.bool()
    {b}.float()
    {b}.to(torch.uint8)
    {e}.type_as({e})
    """,
    True,
)

WRITES = _lines(
    """
    {m}[0] = {k}
    {m}[1:] = {k}
    {m}[..., 0] += {k}
    {m}[..., ::2] *= 2
    {m}[{b}] = {k}
    {m}[[0]] = {k}
    {m}.add_({k})
    {m}.mul_(2)
    {m}.neg_()
    {m}.zero_()
    {m}.fill_({k})
    {m}.clamp_(-2, 2)
    {m}.copy_({e})
    {m}.masked_fill_({b}, {k})
    {m}.select({d}, 0).add_(1)
    {m}.narrow({d}, 0, 1).mul_({k})
    {m}.transpose({d}, 0)[0] = {k}
    {m}.view(-1)[:2] = {k}
    {m}.diagonal().fill_({k})
    {m}.index_fill_({d}, torch.tensor([0]), {k})
    {m}.relu_()
    {m}.sub_({e})
    {m}.unsqueeze(0).add_({k})
    {m}[1:] = {m}[:-1].clone()
    {m}.squeeze()[...] = {k}
    """,
    True,
    writes=True,
)

CONTROL = _lines(
    """
    torch.cond({e}.sum() > 0, lambda a: a + 1, lambda a: a * 2, ({x},))
    torch.cond({b}.any(), lambda a, c: a - c, lambda a, c: a.clone(), ({e}, {e}))
    torch._higher_order_ops.while_loop(lambda a: (a < 9).any(), lambda a: (a % 99 + 1,), ({e},))[0]
    """,
    True,
)

# Families, and how often each is drawn.
FAMILIES = (
    (ARITHMETIC, 6),
    (ELEMENTARY, 5),
    (COMPARISONS, 3),
    (REDUCTIONS, 4),
    (VIEWS, 7),
    (INDEXING, 3),
    (CREATION, 2),
    (CASTS, 2),
    (WRITES, 4),
)

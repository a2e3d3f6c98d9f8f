"""What there is to test: operators, dtypes, samples, and which of them a run takes."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in (
        "float32",
        "int64",
        "float64",
        "float16",
        "bfloat16",
        "int32",
        "int16",
        "int8",
        "uint8",
        "bool",
        "complex64",
    )
}

# Two dtypes are tested in depth; the others show where a dtype is treated differently.
DEEP_DTYPES = ("float32", "int64")

# Tensors of reference inputs above this size cost time and show nothing new.
_LARGEST_REFERENCE = 4096


@dataclass(frozen=True)
class Case:
    """One sample of one operator, called in one way, captured in one way."""

    op: str
    dtype: str
    source: str  # "sample" or "reference"
    index: int
    variant: str  # "function", "method" or "inplace"
    dynamic: bool
    opset: int = 0  # 0: the exporter's default

    @property
    def capture_key(self) -> str:
        mode = "dynamic" if self.dynamic else "static"
        return f"{self.source}{self.index}|{self.variant}|{mode}"

    @property
    def key(self) -> str:
        suffix = f"|opset{self.opset}" if self.opset else ""
        return f"{self.op}|{self.dtype}|{self.capture_key}{suffix}"

    @property
    def number(self) -> int:
        """Fixed, and spread evenly over any small number of parts."""
        return int(hashlib.sha1(self.key.encode()).hexdigest(), 16)


@dataclass(frozen=True)
class Selection:
    """Which cases a run takes."""

    ops: str = ""
    dtypes: tuple[str, ...] = tuple(DTYPES)
    limit: int = 8  # samples per operator and deep dtype; the others get a third
    everything: bool = False
    tenth: int | None = None
    every: int = 1  # one case of so many, the same ones each time
    modes: tuple[str, ...] = ("static", "dynamic")
    variants: tuple[str, ...] = ("function", "method", "inplace")
    opsets: tuple[int, ...] = ()  # besides the default one, on each unit's first sample

    def takes(self, key: str) -> bool:
        """Whether a result is of this selection, as far as its key tells."""
        op, dtype, _, variant, mode = key.split("|")[:5]
        return (
            re.search(self.ops, op) is not None
            and dtype in self.dtypes
            and variant in self.variants
            and mode in self.modes
        )

    def share(self, dtype: str) -> int:
        return self.limit if dtype in DEEP_DTYPES else max(2, (self.limit + 2) // 3)


@dataclass(frozen=True)
class Unit:
    """All cases of an operator in one dtype: what a worker takes at a time."""

    op: str
    dtype: str


def full_name(info: Any) -> str:
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else str(info.name)


_BY_NAME: dict[str, Any] = {full_name(info): info for info in op_db}


def op_info(name: str) -> Any:
    return _BY_NAME[name]


def operators() -> list[str]:
    return list(_BY_NAME)


def units(selection: Selection, exact: str = "") -> list[Unit]:
    pattern = re.compile(selection.ops) if selection.ops else None
    found = []
    for name, info in _BY_NAME.items():
        if (pattern and not pattern.search(name)) or (exact and name != exact):
            continue
        supported = info.supported_dtypes("cpu")
        found += [Unit(name, d) for d in selection.dtypes if DTYPES[d] in supported]
    return found


def samples(unit: Unit) -> list[Any]:
    """All sample inputs; the iterator seeds the generators, so they are the same in each run."""
    return _collect(op_info(unit.op).sample_inputs, unit)


def reference_samples(unit: Unit) -> list[Any]:
    """Small reference inputs (extremal values, odd layouts); none where they equal the samples."""
    info = op_info(unit.op)
    if info.reference_inputs_func is None:
        return []
    return [s for s in _collect(info.reference_inputs, unit) if _elements(s) <= _LARGEST_REFERENCE]


def _collect(generate: Callable[..., Any], unit: Unit) -> list[Any]:
    found: list[Any] = []
    # Some generators end in a need for packages that are not installed.
    with contextlib.suppress(Exception), _seeding_the_cpu_alone():
        found.extend(generate("cpu", DTYPES[unit.dtype], requires_grad=False))
    return found


def _seeding_the_cpu_alone() -> Any:
    """The generators of samples seed anew before each; a build of torch without accelerators writes
    down where each seed for theirs was called, and keeps that: two thirds of the sweep's time."""
    return mock.patch.object(torch, "manual_seed", torch.default_generator.manual_seed)


def _elements(sample: Any) -> int:
    leaves = pytree.tree_leaves((sample.input, sample.args, sample.kwargs))
    return sum(leaf.numel() for leaf in leaves if isinstance(leaf, torch.Tensor))


def cases(unit: Unit, selection: Selection) -> Iterator[tuple[Case, Any]]:
    """The chosen cases of a unit with their samples."""
    deep = unit.dtype in DEEP_DTYPES or selection.everything
    ordinary = samples(unit)
    share = len(ordinary) if selection.everything else selection.share(unit.dtype)
    chosen = _diverse(ordinary, share)
    picked = [("sample", i, ordinary[i]) for i in chosen]
    if deep:
        extra = reference_samples(unit)
        references = len(extra) if selection.everything else max(1, selection.limit // 2)
        picked += [("reference", i, extra[i]) for i in _diverse(extra, references)]
    for position, (source, index, sample) in enumerate(picked):
        case = Case(unit.op, unit.dtype, source, index, "function", dynamic=False)
        for each in _ways(case, position, deep, selection):
            in_tenth = selection.tenth is None or each.number % 10 == selection.tenth
            if in_tenth and each.number % selection.every == 0:
                yield each, sample


def _ways(case: Case, position: int, deep: bool, selection: Selection) -> Iterator[Case]:
    """The forms in which one sample is tried: fewer for dtypes that are not tested in depth."""
    static = "static" in selection.modes
    dynamic = "dynamic" in selection.modes
    if "function" in selection.variants:
        if static:
            yield case
        if dynamic and case.source == "sample" and (deep or position == 0):
            yield replace(case, dynamic=True)
    info = op_info(case.op)
    few = 2 if deep else 1
    for variant, function in (("method", info.method_variant), ("inplace", info.inplace_variant)):
        if function is None or variant not in selection.variants or position >= few:
            continue
        if static:
            yield replace(case, variant=variant)
        if dynamic and deep and variant == "inplace":
            yield replace(case, variant=variant, dynamic=True)
    if position == 0 and deep:
        for opset in selection.opsets:
            yield replace(case, opset=opset)


def _diverse(found: list[Any], limit: int) -> list[int]:
    """Indices of at most `limit` samples: one of each outward form first, then more of each."""
    if len(found) <= limit:
        return list(range(len(found)))
    fine: dict[str, list[int]] = {}
    for index, sample in enumerate(found):
        fine.setdefault(_form(sample), []).append(index)
    firsts = sorted(group[0] for group in fine.values())
    if len(firsts) >= limit:
        return _evenly(firsts, limit)
    rest = sorted(set(range(len(found))) - set(firsts))
    return sorted(firsts + _evenly(rest, limit - len(firsts)))


def _evenly(indices: list[int], count: int) -> list[int]:
    if count == 1:
        return indices[:1]
    last = len(indices) - 1
    return sorted({indices[round(k * last / (count - 1))] for k in range(count)})


def _form(sample: Any) -> str:
    """What a sample looks like from outside: ranks, empty or unit sizes, every other argument."""

    def leaf(value: Any) -> str:
        if not isinstance(value, torch.Tensor):
            return repr(value)[:80]
        sizes = "".join("01n"[min(size, 2)] for size in value.shape)
        plain = value.layout is torch.strided and value.is_contiguous()
        return f"{value.dtype}[{sizes}]{'' if plain else '~'}"

    leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    return f"{spec}{[leaf(v) for v in leaves]}"

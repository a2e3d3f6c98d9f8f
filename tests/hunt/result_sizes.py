"""Sizes of operators' results: python -m tests.hunt.result_sizes [--match NAME]

PyTorch's own samples of each operator, exported with every dimension dynamic, in a model that reads
the sizes of its results. What the model gives at other sizes is compared with eager PyTorch. A size
that is wrong without a warning is a finding; so is a model that fails to run without one.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import logging
import signal
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.export import Dim
from torch.testing._internal.common_methods_invocations import op_db

import sardonyx
from sardonyx._torch_private import pytree
from tests.harness import difference

SIZES = (1, 2, 3, 4, 8)
_MAX_SAMPLES = 6
_MAX_ELEMENTS = 4096
_MAX_SECONDS = 60
# Results are random, or of memory that nothing has written; or places are given in memory, which
# those of another size are not. PyTorch's gradient of max_pool2d writes beyond its memory then.
_LEFT_OUT = (
    *("empty", "rand", "normal", "bernoulli", "multinomial", "dropout", "resize"),
    *("max_unpool", "max_pool2d_with_indices_backward", "as_strided", "lu_unpack", "lu_solve"),
)


class Applied(torch.nn.Module):
    """Gives the results of an operator, and their sizes as the model reads them."""

    def __init__(self, function: Any, spec: Any, fixed: dict[int, Any]) -> None:
        super().__init__()
        self._function, self._spec, self._fixed = function, spec, fixed

    def forward(self, *tensors: torch.Tensor) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        given = iter(tensors)
        places = range(self._spec.num_leaves)
        leaves = [self._fixed[i] if i in self._fixed else next(given) for i in places]
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        made = [
            each
            for each in pytree.tree_flatten(self._function(*args, **kwargs))[0]
            if isinstance(each, torch.Tensor)
        ]
        sizes = [torch.full((1,), 2 * size + 1) for each in made for size in each.shape]
        return made, sizes


class Case(NamedTuple):
    """A call of an operator: the model, and the tensors that it is given."""

    name: str
    model: Applied
    tensors: tuple[torch.Tensor, ...]

    def text(self) -> str:
        shapes = [list(each.shape) for each in self.tensors]
        fixed = {i: each for i, each in self.model._fixed.items() if each is not None}
        return f"{self.name} of {shapes}, with {fixed}"


def cases(match: str) -> Iterator[Case]:
    """The calls, as many of each operator."""
    for op in op_db:
        if match not in op.name or any(each in op.name for each in _LEFT_OUT):
            continue
        dtype = torch.float32 if torch.float32 in op.dtypes else torch.int64
        try:
            samples = list(itertools.islice(op.sample_inputs("cpu", dtype), 40))
        except Exception:
            continue
        step = max(1, len(samples) // _MAX_SAMPLES)
        for sample in samples[::step]:
            leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
            fixed = {i: each for i, each in enumerate(leaves) if not _is_input(each)}
            tensors = tuple(each.detach() for each in leaves if _is_input(each))
            if tensors and sum(each.numel() for each in tensors) <= _MAX_ELEMENTS:
                yield Case(op.name, Applied(op.op, spec, fixed).eval(), tensors)


def _is_input(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() > 0 and not value.is_complex()


def resized(tensors: tuple[torch.Tensor, ...], old: int, new: int) -> tuple[torch.Tensor, ...]:
    """With `new` elements along each dimension that has `old`; of elements that were there."""

    def one(tensor: torch.Tensor) -> torch.Tensor:
        sizes = [new if size == old else size for size in tensor.shape]
        count = int(torch.Size(sizes).numel())
        known = tensor.reshape(-1)
        if not len(known):
            return tensor.new_zeros(sizes)
        return known[torch.arange(count) % len(known)].reshape(sizes)

    return tuple(map(one, tensors))


def judged(case: Case) -> tuple[str, str]:
    """The kind of result, and what there is to say of it."""
    shapes = tuple(dict.fromkeys(range(each.dim()), Dim.AUTO) for each in case.tensors)
    try:
        case.model(*case.tensors)
    except Exception as error:
        return "no sample", str(error)[:80]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = sardonyx.export(case.model, case.tensors, dynamic_shapes=(shapes,))
        except sardonyx.errors.OnnxExporterError as error:
            return "refused", str(error).splitlines()[0][:120]
    is_warned = any(issubclass(w.category, sardonyx.errors.OnnxExporterWarning) for w in caught)
    sizes = {size for each in case.tensors for size in each.shape}
    rows = [(old, new) for old in sorted(sizes) for new in SIZES if old > 1]
    for old, new in ((0, 0), *rows):
        tensors = resized(case.tensors, old, new) if old else case.tensors
        try:
            wanted = pytree.tree_flatten(case.model(*tensors))[0]
        except Exception:
            continue
        told = "with a warning" if is_warned else "WITHOUT A WARNING"
        try:
            given = made(*tensors)
        except Exception as error:
            return f"fails {told}", f"{old} as {new}: {str(error)[:160]}"
        if any(each.is_complex() for each in wanted):
            return "complex", ""
        if len(given) > len(wanted) and not old:
            return "writes to its inputs", ""
        if len(given) != len(wanted):
            return f"wrong {told}", f"{old} as {new}: {len(given)} results, not {len(wanted)}"
        for one, other in zip(given, wanted, strict=True):
            if list(one.shape) != list(other.shape):
                shapes = f"{list(one.shape)}, not {list(other.shape)}"
                return f"wrong {told}", f"{old} as {new}: {shapes}"
            if other.dtype == torch.int64 and (found := difference(one, other)):
                return f"wrong {told}", f"{old} as {new}: {found}"
    return ("right with a warning" if is_warned else "right"), ""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_MAX_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--match", default="", help="operators whose name has this in it")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    counts: Counter[str] = Counter()
    for case in cases(options.match):
        try:
            with _limited():
                kind, detail = judged(case)
        except TimeoutError:
            kind, detail = "takes too long", ""
        counts[kind] += 1
        if "WITHOUT" in kind or options.match or kind == "takes too long":
            print(f"{kind}: {case.text()[:400]}\n    {detail}", flush=True)
    print(dict(counts))
    return 1 if any("WITHOUT" in kind for kind in counts) else 0


if __name__ == "__main__":
    raise SystemExit(main())

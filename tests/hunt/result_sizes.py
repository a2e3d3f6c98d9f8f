"""Sizes of operators' results: python -m tests.hunt.result_sizes [--match NAME]

PyTorch's own samples of each operator, of floating numbers and of integers, exported with every
dimension dynamic and with each alone, in a model that reads the sizes of its results. What the
model gives at other sizes is compared with eager PyTorch. A size or value that is wrong without a
warning is a finding; so is a model that fails to run without one.
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
from tests.opinfo.capture import Trial
from tests.opinfo.catalogue import full_name
from tests.opinfo.rules import rule_for

SIZES = (1, 2, 3, 4, 8, 0)
_MAX_SAMPLES = {torch.float32: 6, torch.int64: 3}
_MAX_ALONE = 4
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
    # The tensor and the axis of the one dynamic dimension; all are dynamic where it is None.
    alone: tuple[int, int] | None = None

    def text(self) -> str:
        shapes = [list(each.shape) for each in self.tensors]
        fixed = {i: each for i, each in self.model._fixed.items() if each is not None}
        dtype = self.tensors[0].dtype
        place = "all" if self.alone is None else f"{self.alone[0]}.shape[{self.alone[1]}]"
        return f"{self.name} of {shapes} ({dtype}), {place} dynamic, with {fixed}"

    def is_dynamic(self, position: int, axis: int) -> bool:
        return self.alone in {None, (position, axis)}

    def dims(self) -> tuple[dict[int, Any], ...]:
        return tuple(
            {i: Dim.AUTO for i in range(each.dim()) if self.is_dynamic(position, i)}
            for position, each in enumerate(self.tensors)
        )

    def resized(self, old: int, new: int) -> tuple[torch.Tensor, ...]:
        """With `new` elements along each dynamic dimension that has `old`."""

        def one(position: int, tensor: torch.Tensor) -> torch.Tensor:
            sizes = [
                new if size == old and self.is_dynamic(position, axis) else size
                for axis, size in enumerate(tensor.shape)
            ]
            return _filled(tensor, sizes)

        return tuple(one(*each) for each in enumerate(self.tensors))

    def sizes(self) -> list[int]:
        """The sizes of dynamic dimensions in the example."""
        found = {
            size
            for position, each in enumerate(self.tensors)
            for axis, size in enumerate(each.shape)
            if self.is_dynamic(position, axis) and size > 1
        }
        return sorted(found)


def _filled(tensor: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """A tensor of these sizes, of elements that are there."""
    count = int(torch.Size(sizes).numel())
    known = tensor.reshape(-1)
    if not len(known):
        return tensor.new_zeros(sizes)
    # Drawn beyond the first ones: rows that are equal make matrices singular.
    places = torch.arange(min(count, len(known)))
    if count > len(known):
        generator = torch.Generator().manual_seed(count)
        rest = torch.randint(len(known), (count - len(known),), generator=generator)
        places = torch.cat([places, rest])
    return known[places].reshape(sizes)


def cases(match: str) -> Iterator[Case]:
    """The calls, as many of each operator."""
    for op in op_db:
        if match not in op.name or any(each in op.name for each in _LEFT_OUT):
            continue
        for dtype, most in _MAX_SAMPLES.items():
            if dtype in op.dtypes:
                yield from _cases_of(op, dtype, most)


def _cases_of(op: Any, dtype: torch.dtype, most: int) -> Iterator[Case]:
    try:
        samples = list(itertools.islice(op.sample_inputs("cpu", dtype), 40))
    except Exception:
        return
    for sample in samples[:: max(1, len(samples) // most)]:
        leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
        fixed = {i: each for i, each in enumerate(leaves) if not _is_input(each)}
        tensors = tuple(each.detach() for each in leaves if _is_input(each))
        if not tensors or sum(each.numel() for each in tensors) > _MAX_ELEMENTS:
            continue
        model = Applied(op.op, spec, fixed).eval()
        name = full_name(op)
        yield Case(name, model, tensors)
        alone = [(i, axis) for i, each in enumerate(tensors) for axis in range(each.dim())]
        if len(alone) > 1:
            step = max(1, -(-len(alone) // _MAX_ALONE))
            yield from (Case(name, model, tensors, each) for each in alone[::step])


def _is_input(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() > 0 and not value.is_complex()


def judged(case: Case) -> tuple[str, str]:
    """The kind of result, and what there is to say of it."""
    try:
        case.model(*case.tensors)
    except Exception as error:
        return "no sample", str(error)[:80]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = sardonyx.export(case.model, case.tensors, dynamic_shapes=(case.dims(),))
        except sardonyx.errors.OnnxExporterError as error:
            return "refused", str(error).splitlines()[0][:120]
    is_warned = any(issubclass(w.category, sardonyx.errors.OnnxExporterWarning) for w in caught)
    # squeeze() keeps a dynamic dimension, as the report says.
    is_warned |= any(note.code == "SX1313" for note in made.notes)
    rows = [(old, new) for old in case.sizes() for new in SIZES]
    wrong_values = ""
    for old, new in ((0, 0), *rows):
        tensors = case.resized(old, new) if old else case.tensors
        try:
            results, result_sizes = case.model(*tensors)
        except Exception:
            continue
        told = "with a warning" if is_warned else "WITHOUT A WARNING"
        try:
            given = made(*tensors)
        except Exception as error:
            return f"fails {told}", f"{old} as {new}: {str(error)[:160]}"
        wanted = [*results, *result_sizes]
        if any(each.is_complex() for each in wanted):
            return "complex", ""
        if len(given) > len(wanted) and not old:
            return "writes to its inputs", ""
        if len(given) != len(wanted):
            return f"wrong {told}", f"{old} as {new}: {len(given)} results, not {len(wanted)}"
        for one, other in zip(given, wanted, strict=True):
            if (one.dtype, one.shape) != (other.dtype, other.shape):
                forms = f"{one.dtype}{list(one.shape)}, not {other.dtype}{list(other.shape)}"
                return f"wrong {told}", f"{old} as {new}: {forms}"
        count = len(results)
        for one, other in zip(given[count:], result_sizes, strict=True):
            if found := difference(one, other):
                return f"wrong {told}", f"{old} as {new}: a size: {found}"
        trial = Trial(inputs=list(tensors), expected=results)
        if not wrong_values and (found := rule_for(case.name)(trial, list(given[:count]))):
            wrong_values = f"{old} as {new}: {found}"
    if wrong_values:
        return f"other values {told}", wrong_values
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
    parser.add_argument("--part", default="0/1", help="such a part of the calls: 0/3, 1/3, 2/3")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    counts: Counter[str] = Counter()
    first, parts = map(int, options.part.split("/"))
    for case in itertools.islice(cases(options.match), first, None, parts):
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

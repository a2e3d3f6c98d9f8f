"""The native inference of result types against PyTorch's kernels, over PyTorch's operator database:
every call that an operator's samples dispatch is inferred, too."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

from sardonyx import _native
from tests.harness.rotation import rotating

# Names of operators, in groups that take turns by the commit.
EVERY = 4 * int(os.environ.get("SARDONYX_OPERATORS_EVERY", "9"))
SAMPLES = 3
# Not deterministic, or of what no program holds: what is no strided tensor on the CPU.
LEFT_OUT = ("sparse", "nested", "jiterator", "_refs", "item")


class Compared(TorchDispatchMode):
    """Compares each call that is dispatched within it."""

    def __init__(self) -> None:
        super().__init__()
        self.different: dict[str, str] = {}
        self.inferred: set[str] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        described = [_described(each) for each in args]
        named = {name: _described(each) for name, each in (kwargs or {}).items()}
        results = func(*args, **kwargs or {})
        name = func._schema.name + f".{func._overloadname}".removesuffix(".default")
        tensors = [each for each in _flat(results) if isinstance(each, torch.Tensor)]
        is_mutation = func._schema.is_mutable
        if tensors and not is_mutation and name not in self.different:
            self._compare(name, described, named, tensors)
        return results

    def _compare(self, name: str, args: list[Any], kwargs: dict[str, Any], given: Any) -> None:
        try:
            ours = _native.result_types(name, args, kwargs)
        except Exception as error:
            # Arguments that are no tensors, numbers or lists of them have no place in a program.
            if "SX1208" not in str(error):
                self.different[name] = str(error)
            return
        if ours is None:
            return
        self.inferred.add(name)
        if len(ours) != len(given):
            self.different[name] = f"{len(ours)} results for {len(given)}"
            return
        for (dtype, sizes, _), tensor in zip(ours, given, strict=True):
            known = [
                real if size is None else size
                for size, real in zip(sizes, tensor.shape, strict=False)
            ]
            if f"torch.{dtype}" != str(tensor.dtype) or list(tensor.shape) != known:
                self.different[name] = (
                    f"{dtype} {sizes} for {tensor.dtype} {list(tensor.shape)} of {args} {kwargs}"
                )


def _flat(results: Any) -> Iterator[Any]:
    if isinstance(results, (list, tuple)):
        for each in results:
            yield from _flat(each)
    else:
        yield results


def _described(argument: Any) -> Any:
    if isinstance(argument, torch.Tensor):
        sizes, steps = list(argument.shape), list(argument.stride())
        return (str(argument.dtype).removeprefix("torch."), sizes, steps)
    if isinstance(argument, (list, tuple)):
        return [_described(each) for each in argument]
    return argument


def _groups() -> list[str]:
    names = sorted({each.name for each in op_db if not any(w in each.name for w in LEFT_OUT)})
    return names[rotating(EVERY) :: EVERY]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_inference_gives_what_kernels_give(dtype: torch.dtype) -> None:
    chosen = set(_groups())
    compared = Compared()
    for entry in op_db:
        if entry.name not in chosen or dtype not in entry.dtypes:
            continue
        try:
            samples = entry.sample_inputs("cpu", dtype, requires_grad=False)
            for _, sample in zip(range(SAMPLES), samples, strict=False):
                with warnings.catch_warnings(), torch.no_grad(), compared:
                    warnings.simplefilter("ignore")
                    entry.op(sample.input, *sample.args, **sample.kwargs)
        except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
            continue  # PyTorch's own
    different = sorted(compared.different.items())
    assert not different, "\n".join(f"{name}: {text}" for name, text in different)
    assert compared.inferred

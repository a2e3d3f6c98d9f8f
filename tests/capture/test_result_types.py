"""The native inference of result types gives what PyTorch's kernels give, for the calls that
fake-tensor tracing's rules are compared on."""

from __future__ import annotations

import logging
import zlib
from typing import Any

import pytest
import torch

from sardonyx import _native

from .rows import ROWS
from .test_rules import EVERY, EXAMPLE, OTHERS, arguments, has_letters


def of_tensor(sizes: list[int], strides: list[int], dtype: torch.dtype) -> Any:
    return (str(dtype).removeprefix("torch."), sizes, strides)


def inferred(func: Any, row: Any, values: dict[str, int]) -> Any:
    args, kwargs = arguments(row, values, of_tensor)
    name = func._schema.name + f".{func._overloadname}".removesuffix(".default")
    return _native.result_types(name, args, kwargs)


def computed(func: Any, row: Any, values: dict[str, int]) -> list[torch.Tensor]:
    """What kernels give; nothing where PyTorch raises, since a capture has run already."""

    def make(sizes: Any, strides: Any, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty_strided(sizes, strides, dtype=dtype).zero_()

    args, kwargs = arguments(row, values, make)
    try:
        results = func(*args, **kwargs)
    except Exception:
        return []
    tensors = list(results) if isinstance(results, list | tuple) else [results]
    # No value of ONNX has 16-bit complex numbers.
    return [] if any(each.dtype == torch.complex32 for each in tensors) else tensors


def difference(func: Any, row: Any, values: dict[str, int]) -> str:
    theirs = computed(func, row, values)
    if not theirs:
        return ""
    try:
        ours = inferred(func, row, values)
    except Exception as error:
        return str(error)
    if ours is None:
        return "no rule"
    for (dtype, sizes, _), tensor in zip(ours, theirs, strict=True):
        known = [
            given if size is None else size
            for size, given in zip(sizes, tensor.shape, strict=False)
        ]
        if f"torch.{dtype}" != str(tensor.dtype) or list(tensor.shape) != known:
            return f"{dtype} {sizes} for {tensor.dtype} {list(tensor.shape)}"
    return ""


@pytest.mark.parametrize("func", ROWS, ids=str)
def test_inference_gives_what_pytorch_gives(func: Any) -> None:
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    different = []
    for row in list(ROWS[func]())[zlib.crc32(str(func).encode()) % EVERY :: EVERY]:
        for values in (EXAMPLE, OTHERS[1]) if has_letters(row) else (EXAMPLE,):
            if complaint := difference(func, row, values):
                different.append(f"{row}: {complaint}")
    assert not different, "\n".join(different[:20])

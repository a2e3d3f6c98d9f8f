"""Truths of sizes that PyTorch's functions want as Python's: `is_causal=x.shape[1] > 1`."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sardonyx._torch_private import torchscript

from .patching import Replacement, replaced

_ATTENTION = "scaled_dot_product_attention"
_WANTS_BOOL = re.compile(r"(\w+)\(\): argument '\w+'.* must be bool, not SymBool")


def function_wanting_bools(error: BaseException | None) -> str | None:
    """The name of a function of PyTorch's that was given a truth of sizes where it declares a
    bool."""
    found = _WANTS_BOOL.search(str(error)) if isinstance(error, TypeError) else None
    return found[1] if found else None


@contextmanager
def bools_decided(name: str) -> Iterator[None]:
    """Within it, PyTorch's function of that name specializes symbolic bools to the example's sizes.

    That adds a guard, and so a note reports it. The function is replaced in modules that have
    imported it by itself, too.
    """
    import torch

    holders = (torch, torch.nn.functional, torchscript.functions_in_python()[1], torch.Tensor)
    functions = [getattr(holder, name) for holder in holders if hasattr(holder, name)]
    settled = _settled_causality if name == _ATTENTION else None
    deciding = {id(function): _deciding(function, settled) for function in functions}
    modules = [module for module in list(sys.modules.values()) if module is not None]
    with replaced(
        Replacement(place, key, deciding[id(value)])
        for place in (*modules, torch.Tensor)
        if not deciding.keys().isdisjoint(map(id, list(vars(place).values())))
        for key, value in list(vars(place).items())
        if id(value) in deciding
    ):
        yield


def _deciding(
    function: Callable[..., Any], settled: Callable[..., dict[str, Any]] | None
) -> Callable[..., Any]:
    import torch

    def decided(value: Any) -> Any:
        return bool(value) if isinstance(value, torch.SymBool) else value

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if settled is not None:
            kwargs = {**kwargs, **settled(*args, **kwargs)}
        return function(*map(decided, args), **{k: decided(v) for k, v in kwargs.items()})

    return called


def _settled_causality(
    query: Any = None,
    key: Any = None,
    value: Any = None,
    attn_mask: Any = None,
    *_: Any,
    is_causal: Any = False,
    **__: Any,
) -> dict[str, Any]:
    """`is_causal` without a question, where the answer changes nothing: one row of as many keys
    and values sees all of them, causal or not."""
    import torch

    tensors = (query, key, value)
    is_asked = isinstance(is_causal, torch.SymBool) and attn_mask is None
    if is_asked and all(isinstance(each, torch.Tensor) for each in tensors):
        rows, columns = query.shape[-2], key.shape[-2]
        is_of_rows = isinstance(rows, torch.SymInt) and isinstance(columns, torch.SymInt)
        if is_of_rows and rows.node.expr == columns.node.expr:
            several: Any = rows > 1
            if isinstance(several, torch.SymBool) and several.node.expr == is_causal.node.expr:
                return {"is_causal": True}
    return {}

"""`forward(self, x, **kw)`: what is passed in `**kw` as parameters of their own.

PyTorch compares the entries of `dynamic_shapes` with forward()'s parameters, and takes the contents
of `**kw` both for one parameter and for one each. A signature that names what a call passes, and
has no `**kw`, means the same to all of PyTorch's captures and to ours.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def call_signature(forward: Callable[..., Any], keywords: Iterable[str]) -> inspect.Signature:
    """The signature of `forward` with a keyword-only parameter for each of `keywords` that it takes
    in `**kw`, in place of this. Unchanged where it has no `**kw`, or where the names cannot be
    those of parameters."""
    signature = inspect.signature(forward)
    if (rest := collected(signature)) is None:
        return signature
    named = [p for p in signature.parameters.values() if p.name != rest]
    known = {p.name for p in named if p.kind is not p.POSITIONAL_ONLY}
    in_rest = [name for name in keywords if name not in known]
    taken = {p.name for p in named}  # positional-only ones among them
    if any(name in taken or not name.isidentifier() or iskeyword(name) for name in in_rest):
        return signature
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in in_rest]
    return signature.replace(parameters=[*named, *added])


def collected(signature: inspect.Signature) -> str | None:
    """What the signature calls its `**kw`; None where it has none."""
    kinds = signature.parameters.values()
    return next((p.name for p in kinds if p.kind is p.VAR_KEYWORD), None)


@contextmanager
def keywords_as_parameters(
    model: torch.nn.Module | None, keywords: Iterable[str]
) -> Iterator[None]:
    """Within it, the signature of the model's forward() is that of call_signature()."""
    forward: Any = getattr(model, "forward", None)
    function = getattr(forward, "__func__", forward)
    attributes = getattr(function, "__dict__", None)
    if attributes is None or collected(inspect.signature(function)) is None:
        yield
        return
    former = attributes.get("__signature__")
    function.__signature__ = call_signature(function, keywords)
    try:
        yield
    finally:
        if former is None:
            del function.__signature__
        else:
            function.__signature__ = former

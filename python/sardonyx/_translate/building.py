"""The graph that is being built while a translator runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

from sardonyx._base.errors import OnnxExporterError

if TYPE_CHECKING:
    from sardonyx import _native

_emitter: ContextVar[_native.Emitter | None] = ContextVar("emitter", default=None)
# Local functions that the present conversion has: (domain, name) to their bytes.
_functions: ContextVar[dict[tuple[str, str], bytes] | None] = ContextVar("functions", default=None)


def emitter() -> _native.Emitter:
    """What adds nodes while a translator runs. Raises OnnxExporterError elsewhere."""
    present = _emitter.get()
    if present is None:
        raise OnnxExporterError(
            "ONNX operators can be called in a translator only: in a function that "
            "custom_translation_table, OnnxRegistry or register_custom_op_symbolic has"
        )
    return present


def local_functions() -> dict[tuple[str, str], bytes]:
    """The local functions that this conversion has added so far."""
    present = _functions.get()
    return {} if present is None else present


@contextlib.contextmanager
def conversion() -> Iterator[None]:
    """One conversion: what is added to the model in it is added once."""
    token = _functions.set({})
    try:
        yield
    finally:
        _functions.reset(token)


@contextlib.contextmanager
def building(present: _native.Emitter) -> Iterator[None]:
    """Within it, `emitter()` is `present`."""
    token = _emitter.set(present)
    try:
        yield
    finally:
        _emitter.reset(token)

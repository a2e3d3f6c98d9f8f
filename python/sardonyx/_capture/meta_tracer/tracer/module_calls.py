"""Which modules run: the path and class of each, and how often that path was called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from sardonyx._torch_private import state as torch_state

Stack = list[tuple[str, str, str]]
_ROOT = "_export_root"


class _Root(torch.nn.Module):
    """What torch.export puts around a model, so that reaching the model itself is seen, too."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self._export_root = model


@contextmanager
def watching(model: torch.nn.Module, stack: Stack) -> Iterator[torch.nn.Module]:
    """Within it, `stack` has the modules that run. Gives what is to be called for the model.

    A module that stands in several places is called by the path that led to it: as torch.export
    finds that out, modules are reached through stand-ins that know their paths.
    """
    paths: dict[int, str] = {}
    shared = False
    for path, module in model.named_modules(remove_duplicate=False):
        shared = shared or id(module) in paths
        paths.setdefault(id(module), path)
    if not shared:
        with _calls_seen(lambda module: paths.get(id(module)), stack):
            yield model
        return
    root = _Root(model)
    tracer = _tracer(root)

    def path_of(module: torch.nn.Module) -> str | None:
        if module in tracer.proxy_paths:
            return str(tracer.proxy_paths[module]).removeprefix(_ROOT).removeprefix(".")
        return paths.get(id(module))

    with _reached_by_path(tracer), _calls_seen(path_of, stack):
        yield root._export_root


def _tracer(root: torch.nn.Module) -> Any:
    from sardonyx._torch_private import non_strict

    return non_strict.module_tracer(root)


@contextmanager
def _reached_by_path(tracer: Any) -> Iterator[None]:
    """Within it, attributes that are modules are stand-ins that know by which path."""
    before: Any = torch.nn.Module.__getattr__

    def reached(module: torch.nn.Module, name: str) -> Any:
        value = before(module, name)
        return tracer.getattr(name, value, {}) if isinstance(value, torch.nn.Module) else value

    torch.nn.Module.__getattr__ = reached  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.nn.Module.__getattr__ = before  # type: ignore[method-assign]


@contextmanager
def _calls_seen(path_of: Callable[[torch.nn.Module], str | None], stack: Stack) -> Iterator[None]:
    called: dict[str, int] = {}
    name = torch_state.method_that_calls()
    before = getattr(torch.nn.Module, name)

    def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        path = path_of(module)
        if path is None:
            return before(module, *args, **kwargs)
        times = called.get(path, 0)
        called[path] = times + 1
        kind = type(module)
        key = f"{path}@{times}" if times else path
        stack.append((key, path, f"{kind.__module__}.{kind.__qualname__}"))
        try:
            return before(module, *args, **kwargs)
        finally:
            stack.pop()

    setattr(torch.nn.Module, name, call)
    try:
        yield
    finally:
        setattr(torch.nn.Module, name, before)

"""Puts back what a run of the model, or a capture by PyTorch, changes of the user's tensors and
module. What fake-tensor tracing itself leaves and declines is in `meta_tracer/isolation`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@contextmanager
def tensors_unmarked(inputs: Any) -> Iterator[None]:
    """Within it, PyTorch may mark dimensions of the tensors among the inputs as dynamic, which it
    does in attributes; afterwards their attributes are what they were."""
    import torch

    from sardonyx._torch_private import pytree

    tensors = [each for each in pytree.tree_leaves(inputs) if isinstance(each, torch.Tensor)]
    before = [{name: _kept(value) for name, value in vars(each).items()} for each in tensors]
    try:
        yield
    finally:
        for tensor, attributes in zip(tensors, before, strict=True):
            if vars(tensor) != attributes:
                vars(tensor).clear()
                vars(tensor).update(attributes)


def _kept(value: Any) -> Any:
    return copy.copy(value) if isinstance(value, (set, dict, list)) else value


@contextmanager
def module_kept_on_error(model: torch.nn.Module) -> Iterator[None]:
    """Within it, what the model assigns to attributes of its modules, and to settings of PyTorch,
    is undone where an error ends it. torch.export undoes it where it succeeds, but for a buffer
    that the model registers anew, which is a fake tensor then."""
    put_back = _state_of(model)
    was_fake = _has_fakes(model)
    try:
        yield
    except BaseException:
        put_back()
        raise
    if not was_fake and _has_fakes(model):
        put_back()


@contextmanager
def module_kept(model: torch.nn.Module) -> Iterator[None]:
    """Within it, the model computes with data; afterwards its attributes, the tensors in them and
    PyTorch's settings are what they were. Of parameters and buffers only which they are."""
    put_back = _state_of(model)
    try:
        yield
    finally:
        put_back()


def _has_fakes(model: torch.nn.Module) -> bool:
    from sardonyx._torch_private import fake_tensors

    values = (*model.parameters(), *model.buffers())
    return any(isinstance(each, fake_tensors.FakeTensor) for each in values)


def _state_of(model: torch.nn.Module) -> Callable[[], None]:
    """What puts back the attributes of all modules, what is in lists, dictionaries and tensors
    among them, and settings of PyTorch."""
    import torch

    from sardonyx._capture.meta_tracer.isolation.side_effects import kept
    from sardonyx._capture.meta_tracer.isolation.tables import (
        held_by,
        is_same_table,
        put_back_items,
    )
    from sardonyx._torch_private.state import writes_to

    def content_of(container: Any) -> Any:
        return held_by(container) if isinstance(container, dict) else copy.copy(container)

    settings = kept()
    before = [
        (vars(module), dict(vars(module)), [(v, content_of(v)) for v in _containers(module)])
        for module in model.modules()
    ]

    tensors = [
        (value, value.detach().clone(), writes_to(value))
        for attributes, _, _ in before
        for value in attributes.values()
        if isinstance(value, torch.Tensor) and not value.is_inference()
    ]

    def put_back() -> None:
        for attributes, former, containers in before:
            attributes.clear()
            attributes.update(former)
            for container, content in containers:
                if isinstance(container, list):
                    container[:] = content
                elif isinstance(container, dict):
                    if not is_same_table(container, content):
                        put_back_items(container, content)
                else:
                    container.clear()
                    container.update(content)
        with torch.no_grad():
            for tensor, values, version in tensors:
                if writes_to(tensor) != version:
                    tensor.copy_(values)
        settings()

    return put_back


def _containers(module: torch.nn.Module) -> list[Any]:
    return [each for each in vars(module).values() if isinstance(each, (dict, list, set))]

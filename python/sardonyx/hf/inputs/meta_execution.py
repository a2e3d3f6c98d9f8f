"""What a model does with inputs, found without computing: runs on tensors that have no data."""

from __future__ import annotations

import contextlib
import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakSet

import torch

from sardonyx._capture.patches.recurrences import whole_recurrences
from sardonyx._torch_private import fake_tensors
from sardonyx._torch_private.non_strict import compiling
from sardonyx._transformers_private.models import batched_experts
from sardonyx._transformers_private.tracing import nothing_kept
from sardonyx.hf.base.experts import all_experts

from .placeholder_weights import some_weights

T = TypeVar("T")
# What tensors without data raise where a model looks at data, or makes a size of it.
_OF_DATA = fake_tensors.looks_at_data()
# What modules keep things in.
_CONTAINERS = (dict, OrderedDict, list)


class _Counting(fake_tensors.TorchDispatchMode):
    """Counts the calls of operators."""

    def __init__(self) -> None:
        # PyTorch gives this method no types.
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.calls += 1
        return function(*args, **(kwargs or {}))


@dataclass
class OperatorCalls:
    """The number of operator calls of the last run without data, 0 where it failed, and whether
    they were counted on meta tensors: fake tensors make other calls of the same program."""

    without_data: int = 0
    on_meta: bool = False


_counted: ContextVar[OperatorCalls | None] = ContextVar("_counted", default=None)
# Models that do not run on meta tensors, which carry no devices and answer no question about data.
_not_on_meta: WeakSet[torch.nn.Module] = WeakSet()


@contextlib.contextmanager
def counted_calls() -> Iterator[OperatorCalls]:
    """Counts what the probes within do."""
    token = _counted.set(OperatorCalls())
    try:
        found = _counted.get()
        assert found is not None
        yield found
    finally:
        _counted.reset(token)


def probe(model: torch.nn.Module, call: Callable[..., T], **inputs: Any) -> T:
    """What `call`, which runs the model, returns, its tensors without data; where the model looks
    at data, it is run, with weights that stand in where it does not run with those that have no
    values yet. What the model keeps of the run is gone after it."""
    with (
        torch.no_grad(),
        batched_experts(model),
        _as_it_was(model),
        all_experts(model),
        whole_recurrences(model),
    ):
        try:
            return _without_data(model, call, inputs)
        except Exception as first:
            try:
                return call(**inputs)
            except Exception:
                if not isinstance(first, _OF_DATA):
                    raise
                with some_weights(model):
                    return call(**inputs)


def _without_data(model: torch.nn.Module, call: Callable[..., T], inputs: dict[str, Any]) -> T:
    """The result on meta tensors, which takes a third of the time, or else on fake ones."""
    if model not in _not_on_meta:
        try:
            with _as_it_was(model), _meta(model), _Counting() as counting:
                result = call(**_copies(inputs, device="meta"))
            _count(counting, on_meta=True)
            return result
        except Exception:  # fake tensors say better what is wrong, if anything is
            _not_on_meta.add(model)
    with _fake(), _Counting() as counting:
        result = call(**_copies(inputs))
    _count(counting, on_meta=False)
    return result


def _count(counting: _Counting, *, on_meta: bool) -> None:
    if (counted := _counted.get()) is not None:
        counted.without_data, counted.on_meta = counting.calls, on_meta


@contextlib.contextmanager
def _meta(model: torch.nn.Module) -> Iterator[None]:
    """Within it, what the model has and makes are meta tensors. Its parameters stay so."""
    with nothing_kept(), compiling(), torch.device("meta"):
        on_meta: dict[int, torch.Tensor] = {}
        for module in model.modules():
            for name, tensor in [*_own(module.named_parameters), *_own(module.named_buffers)]:
                setattr(module, name, on_meta.setdefault(id(tensor), _on_meta(tensor)))
        yield


def _own(named: Callable[..., Iterator[tuple[str, torch.Tensor]]]) -> list[Any]:
    """Those of a module itself, shared ones by each of their names."""
    return list(named(recurse=False, remove_duplicate=False))


def _on_meta(tensor: torch.Tensor) -> torch.Tensor:
    made = torch.empty_like(tensor, device="meta")
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(made, requires_grad=False)
    return made


@contextlib.contextmanager
def _fake() -> Iterator[None]:
    with (
        fake_tensors.FakeTensorMode(allow_non_fake_inputs=True),
        nothing_kept(),
        _nothing_logged(),
    ):
        yield


@contextlib.contextmanager
def _nothing_logged() -> Iterator[None]:
    """PyTorch logs what a tensor without data cannot do, with all calls that led to it; here that
    is an example that a model does not take."""
    logger = fake_tensors.logger()
    former = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = former


@contextlib.contextmanager
def _as_it_was(model: torch.nn.Module) -> Iterator[None]:
    """What modules keep of a run (biases by device, tables by length) would have no data, or be
    computed of weights that have none yet, and would stand in the captured program."""
    former: list[tuple[Any, Any]] = []
    for module in model.modules():
        attributes = vars(module)
        former.append((attributes, dict(attributes)))
        former += [(v, v.copy()) for v in attributes.values() if type(v) in _CONTAINERS]
        former += [(vars(v), dict(vars(v))) for v in attributes.values() if _is_helper(v)]
    try:
        yield
    finally:
        for now, before in former:
            if not _same(now, before):
                now.clear()
                (now.extend if isinstance(now, list) else now.update)(before)


def _is_helper(value: Any) -> bool:
    """Whether it is an object of the model's own, which may keep what it computed, as Chameleon's
    keeps the places of its words."""
    if not hasattr(value, "__dict__") or callable(value) or hasattr(value, "to_dict"):
        return False
    return not isinstance(value, (torch.Tensor, *_CONTAINERS))


def _same(now: Any, before: Any) -> bool:
    if isinstance(now, list):
        return len(now) == len(before) and all(a is b for a, b in zip(now, before, strict=True))
    return list(now) == list(before) and all(now[key] is before[key] for key in before)


def _copies(values: Any, device: str | None = None) -> Any:
    """The same within the mode: what a model writes to must not be the user's."""
    from sardonyx._torch_private import pytree

    copied = functools.partial(torch.empty_like, device=device)
    return pytree.tree_map_only(torch.Tensor, copied, values)

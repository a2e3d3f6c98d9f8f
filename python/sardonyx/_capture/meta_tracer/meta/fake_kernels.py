"""What operators give, as PyTorch's fake tensors say it: for operators without a rule."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import torch

from sardonyx._capture.meta_tracer.fallback import DeclinedError
from sardonyx._capture.meta_tracer.symbolic.sizes import is_by_data, key, plain, same
from sardonyx._torch_private import pytree
from sardonyx._torch_private import questions as torch_questions
from sardonyx._torch_private.operators import schema_of

from .immaterial_questions import unanswered
from .results import dims_of, steps_of
from .tensor import QuickTensor

_ITEM = torch.ops.aten.item.default
# What operators tell of tensors' kinds: no call computes that.
PLAIN = (bool, int, float)
# What depends on where in memory a tensor begins, which is not kept.
_OF_MEMORY = frozenset({"as_strided", "as_strided_", "set_", "resize_", "resize_as_"})


class FakeKernels:
    """Runs operators on fake tensors in the place of quick ones.

    They are torch.export's own, so that what it asks of sizes is asked here, too, unless the
    answer changes no result.
    """

    def __init__(self, mode: Any) -> None:
        self._mode = mode
        self._made: dict[Hashable, torch.Tensor] = {}
        # Those of tensors whose elements decided sizes: they remember how many there were. All
        # are forgotten with the next write, which may be to any of them.
        self._own: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._known: dict[Hashable, Any] = {}

    def forget(self) -> None:
        """Has operators be asked again: sizes are known to be others."""
        self._made.clear()
        self._known.clear()

    def forget_elements(self) -> None:
        """Has operators be asked again that depend on elements: something writes to a tensor."""
        self._own.clear()

    def number(self) -> Any:
        """An integer of which nothing is known."""
        made = self._mode.shape_env.create_unbacked_symint()
        self._mode.shape_env.pending_fresh_unbacked_symbols.clear()  # a call's node has it
        return made

    def within(self, compute: Callable[[Callable[[Any], Any]], Any]) -> list[Any]:
        """What a computation gives of fake tensors, which its argument makes of quick ones."""
        stands_for: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        with self._mode:
            given = compute(lambda tree: self._tree(tree, stands_for, is_fresh=True))
        self._mode.shape_env.pending_fresh_unbacked_symbols.clear()
        made: list[Any] = _quick(None, list(given), {})
        return made

    def result(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the operator gives; of what it gives back or writes, the tensor itself.

        Layers are alike, so that what an operator gave to tensors of the same kind is known.
        """
        kind = None if schema_of(func).is_mutable else _kind_of_call(func, args, kwargs)
        if torch.is_autocast_enabled("cpu"):
            kind = (kind, torch.get_autocast_dtype("cpu")) if kind is not None else None
        if kind is None:
            return self._asked(func, args, kwargs)
        known = self._known.get(kind)
        if known is not None:
            return [made() for made in known] if isinstance(known, list) else known()
        given = self._asked(func, args, kwargs)
        again = _again(given, (args, kwargs))
        if again is not None and not _is_by_data(given):
            self._known[kind] = again
        return given

    def _asked(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func.overloadpacket.__name__ in _OF_MEMORY:
            raise DeclinedError(f"{func} depends on places in memory")
        stands_for: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        writes = schema_of(func).is_mutable
        if writes:
            self.forget_elements()
        # A fake tensor remembers what was read of it, and stands for several.
        is_fresh = writes or func is _ITEM

        fake_args = self._tree(args, stands_for, is_fresh)
        fake_kwargs = {
            name: self._tree(argument, stands_for, is_fresh) for name, argument in kwargs.items()
        }
        env = self._mode.shape_env
        given = None
        if env is not None and not is_fresh and torch_questions.UNLEARNT.available:
            given = unanswered(self._mode, func, fake_args, fake_kwargs)
        if given is None:
            with self._mode:
                given = func(*fake_args, **fake_kwargs)
        if env is not None and env.pending_fresh_unbacked_symbols:
            env.pending_fresh_unbacked_symbols.clear()  # the call's node has them
            for made, original in stands_for.values():
                self._remember(made, original)
        if writes:
            for made, original in stands_for.values():
                _check_unmoved(func, made, original)
        return _quick(func, given, stands_for)

    def _remember(self, made: torch.Tensor, original: torch.Tensor) -> None:
        """Keeps the fake tensor for this one alone."""
        self._own[id(original)] = (made, original)
        for kind in [kind for kind, each in self._made.items() if each is made]:
            del self._made[kind]

    def _tree(
        self, tree: Any, stands_for: dict[int, tuple[torch.Tensor, torch.Tensor]], is_fresh: bool
    ) -> Any:
        if isinstance(tree, torch.Tensor):
            made = self._of(tree, stands_for, is_fresh)
            stands_for[id(made)] = (made, tree)
            return made
        if isinstance(tree, (list, tuple)):
            return type(tree)(self._tree(each, stands_for, is_fresh) for each in tree)
        return tree

    def _of(
        self,
        tensor: torch.Tensor,
        stands_for: dict[int, tuple[torch.Tensor, torch.Tensor]],
        is_fresh: bool,
    ) -> torch.Tensor:
        """The same one for the same tensor; another for another of the same sizes."""
        for made, original in stands_for.values():
            if original is tensor:
                return made
        if id(tensor) in self._own:
            return self._own[id(tensor)][0]
        dims, steps = dims_of(tensor), steps_of(tensor)
        kind = (tuple(map(key, dims)), tuple(map(key, steps)), tensor.dtype)
        found = None if is_fresh else self._made.get(kind)
        if found is None or id(found) in stands_for:
            with self._mode:
                found = torch.empty_strided(dims, steps, dtype=tensor.dtype, device="cpu")
            if not is_fresh:
                self._made[kind] = found
        return found


def _kind_of_call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    """What calls have in common that give tensors of the same kind; None where nothing tells."""
    try:
        named = tuple((name, _kind(argument)) for name, argument in kwargs.items())
        kind = (func, *map(_kind, args), named)
        hash(kind)
    except TypeError:
        return None
    return kind


def _kind(argument: Any) -> Hashable:
    if isinstance(argument, torch.Tensor):
        return (
            tuple(map(key, dims_of(argument))),
            tuple(map(key, steps_of(argument))),
            argument.dtype,
        )
    if isinstance(argument, (list, tuple)):
        return tuple(map(_kind, argument))
    if isinstance(argument, torch.SymInt):
        return ("size", key(argument))
    if argument is None or isinstance(argument, (bool, int, float, str)):
        return (type(argument), argument)  # 1, 1.0 and True are equal
    if isinstance(argument, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
        return argument
    raise TypeError(f"a {type(argument).__name__}")


def _again(given: Any, inputs: Any) -> Any:
    """What makes the same once more; None where it gives its inputs back."""
    held = {id(leaf) for leaf in pytree.tree_leaves(inputs)}
    if isinstance(given, list):
        if any(type(each) is not QuickTensor or id(each) in held for each in given):
            return None
        return [partial(QuickTensor.of, each.dims, each.steps, each.dtype) for each in given]
    if type(given) is not QuickTensor or id(given) in held:
        return None
    return partial(QuickTensor.of, given.dims, given.steps, given.dtype)


def _is_by_data(given: Any) -> bool:
    """Whether some size or stride of a result is data-dependent."""
    each = given if isinstance(given, list) else [given]
    return any(is_by_data((*one.dims, *one.steps)) for one in each)


def _check_unmoved(func: Any, made: torch.Tensor, original: torch.Tensor) -> None:
    now = (*made.shape, *made.stride())
    before = (*dims_of(original), *steps_of(original))
    if len(now) != len(before) or not all(map(same, map(plain, now), before)):
        raise DeclinedError(f"{func} gives a tensor other sizes")


def _quick(func: Any, given: Any, stands_for: dict[int, tuple[torch.Tensor, torch.Tensor]]) -> Any:
    def convert(each: Any) -> Any:
        if each is None:
            return None
        if isinstance(each, (list, tuple)):
            return [convert(item) for item in each]
        if func in (_ITEM, None) and isinstance(
            each, (torch.SymInt, torch.SymFloat, torch.SymBool)
        ):
            return each
        if isinstance(each, PLAIN) and each is given:
            return each
        if not isinstance(each, torch.Tensor):
            raise DeclinedError(f"{func} gives a {type(each).__name__}")
        if id(each) in stands_for:
            return stands_for[id(each)][1]
        if each.device.type != "cpu" or each.layout is not torch.strided or each.is_quantized:
            raise DeclinedError(f"{func} gives a tensor of another kind")
        if each.is_conj() or each.is_neg():
            raise DeclinedError(f"{func} gives a lazy view")
        dims, steps = tuple(map(plain, each.shape)), tuple(map(plain, each.stride()))
        return QuickTensor.of(dims, steps, each.dtype)

    return convert(given)

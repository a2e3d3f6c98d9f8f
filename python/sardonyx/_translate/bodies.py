"""Bodies of If, Loop and Scan in translators: Python functions over values of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .constants import flattened

if TYPE_CHECKING:
    from sardonyx import _native

_INT64, _BOOL = 7, 9

# Declares the inputs of a body; gives them, and those of them that the body gives in turn.
_Declare = Callable[["_native.Emitter"], tuple[list[Any], list[Any]]]


def has_bodies(attributes: Mapping[str, Any]) -> bool:
    """Whether an attribute is a function, and so the body of an operator."""
    return any(map(_is_function, attributes.values()))


def with_bodies(
    emitter: _native.Emitter, op_type: str, inputs: Sequence[Any], attributes: Mapping[str, Any]
) -> tuple[dict[str, Any], int]:
    """The attributes with graphs in place of functions, and how many outputs the node then has.

    - If: `then_branch()` and `else_branch()` take nothing.
    - Loop: `body(iteration, condition, *carried)` gives the condition, what is carried on, and what
      is collected of each iteration.
    - Scan: `body(*states, *slices)` gives the states and what is collected.
    """
    declare = _inputs_of(op_type, inputs, attributes)
    made: dict[str, Any] = dict(attributes)
    counts: set[int] = set()
    for name, value in attributes.items():
        if _is_function(value):
            made[name], count = _body(emitter, name, value, declare)
            counts.add(count)
    if len(counts) > 1:
        raise ValueError(f"the bodies of {op_type} give {' and '.join(map(str, counts))} values")
    count = counts.pop()
    return made, count - 1 if op_type == "Loop" else count


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


def _inputs_of(op_type: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> _Declare:
    def of_loop(emitter: _native.Emitter) -> tuple[list[Any], list[Any]]:
        declared = [emitter.body_scalar("iteration", _INT64), emitter.body_scalar("go", _BOOL)]
        for i, value in enumerate(inputs[2:]):
            declared.append(emitter.body_input(f"carried_{i}", value, None))
        return declared, declared[1:]

    def of_scan(emitter: _native.Emitter) -> tuple[list[Any], list[Any]]:
        sequences = int(attributes.get("num_scan_inputs") or 0)
        axes = list(attributes.get("scan_input_axes") or [0] * sequences)
        states = len(inputs) - sequences
        declared = [emitter.body_input(f"state_{i}", inputs[i], None) for i in range(states)]
        for i, axis in enumerate(axes):
            declared.append(emitter.body_input(f"slice_{i}", inputs[states + i], axis))
        return declared, declared[:states]

    return {"Loop": of_loop, "Scan": of_scan}.get(op_type, lambda _: ([], []))


def _body(
    emitter: _native.Emitter, name: str, function: Callable[..., Any], declare: _Declare
) -> tuple[_native.Body, int]:
    body = emitter.begin_body(name)
    results: list[Any] = []
    try:
        declared, carried = declare(emitter)
        results = flattened(function(*declared))
        _check_carried(carried, results)
    finally:
        emitter.end_body(results)
    return body, len(results)


def _check_carried(carried: Sequence[Any], results: Sequence[Any]) -> None:
    """What a body gives on must be as it takes it, or its nodes were made for other sizes."""
    for taken, given in zip(carried, results, strict=False):
        before, after = taken.shape, getattr(given, "shape", None)
        if before is None or after is None:
            continue
        if len(before) == len(after) and all(
            b is None or b == a for b, a in zip(before, after, strict=True)
        ):
            continue
        raise ValueError(
            f"a body takes {taken!r} and gives {given!r} on; where a size changes, call "
            "set_type(dtype, shape) on what it takes first, with None for that size"
        )

"""What the placeholders of a captured program stand for."""

from __future__ import annotations

from typing import Any


def placed(functional: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """What the placeholders get: weights by name, then the flat inputs."""
    flat, _ = functional._get_flat_args_with_check(args, kwargs)
    inputs = iter(flat)
    placed: list[Any] = []
    for spec in functional.graph_signature.input_specs:
        kind, target = spec.kind.name, spec.target
        if kind == "USER_INPUT":
            placed.append(next(inputs))
        elif kind in ("PARAMETER", "BUFFER"):
            state = functional.state_dict
            placed.append(state[target] if target in state else functional.constants[target])
        else:
            placed.append(functional.constants.get(target))
    return placed

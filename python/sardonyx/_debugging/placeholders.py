"""What the placeholders and the outputs of a captured program stand for."""

from __future__ import annotations

from typing import Any

from sardonyx._torch_private import export as torch_export


def placed(functional: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """What the placeholders get: weights by name, then the flat inputs."""
    inputs = iter(torch_export.flat_inputs(functional, args, kwargs))
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


def outputs_of(
    exported: Any, results: list[Any], written: list[tuple[Any, Any]]
) -> list[tuple[str, Any]]:
    """What the model has outputs for, in its order: the key of each value, and what it is.

    That is what the program returns, what its signature says that it changes, and what it changes
    besides: `written`, inputs with what they are in the end.
    """
    specs = [
        (spec, value)
        for spec, value in zip(exported.graph_signature.output_specs, results, strict=True)
        if spec.kind.name != "TOKEN"
    ]
    returned = [pair for pair in specs if pair[0].kind.name in ("USER_OUTPUT", "LOSS_OUTPUT")]
    changed = [pair for pair in specs if pair not in returned]
    found = [
        (str(spec.arg.name), value)
        for spec, value in returned + changed
        if value is not None and not isinstance(value, str)
    ]
    targets = {str(spec.target) for spec, _ in changed}
    for spec, value in written:
        is_user = spec.kind.name == "USER_INPUT"
        target = str(spec.arg.name if is_user else spec.target)
        if spec.kind.name != "CONSTANT_TENSOR" and target not in targets:
            found.append((str(spec.arg.name), value))
    return found

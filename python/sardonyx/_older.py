"""What the older exporter took, and what to write instead."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from typing import Any

# Option: what it is when nobody set it, and what to write instead.
_OPTIONS: dict[str, tuple[Any, str]] = {
    "training": (None, "call model.eval() or model.train() before the export"),
    "operator_export_type": (None, "operators without a translation are taken apart or reported"),
    "do_constant_folding": (True, "optimize=False leaves the graph as it was translated"),
    "custom_opsets": (None, "domains get the versions that their operators have"),
    "autograd_inlining": (True, "autograd functions are captured by what they compute"),
    "dynamic_axes": (None, "dynamic_shapes={'x': {0: 'batch'}} says the same"),
}


def warn_of_older_options(options: Mapping[str, Any]) -> None:
    """A DeprecationWarning for each option that is not as it is by itself."""
    for name, value in options.items():
        unset, instead = _OPTIONS[name]
        if value is not unset and value != unset and not _is_default_enumerator(value):
            warnings.warn(f"{name} is deprecated: {instead}", DeprecationWarning, stacklevel=3)


def _is_default_enumerator(value: Any) -> bool:
    # TrainingMode.EVAL and OperatorExportTypes.ONNX, torch.onnx.export's own defaults.
    return getattr(value, "name", None) in ("EVAL", "ONNX")


def is_older_form(model: Any, args: tuple[Any, ...]) -> bool:
    """Whether the last of `args` is a dict of keyword arguments, as the older exporter took them.

    It is one where its keys are parameters of forward() that `args` leaves free, and forward() does
    not take a dict there.
    """
    last = args[-1]
    forward = getattr(model, "forward", None)
    if forward is None or not isinstance(last, dict) or not last:
        return False
    parameters = list(inspect.signature(forward).parameters.values())
    taken = {parameter.name for parameter in parameters[: len(args) - 1]}
    free = {parameter.name for parameter in parameters} - taken
    return set(last) <= free

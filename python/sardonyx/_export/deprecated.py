"""What the older exporter took, and what to write instead."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sardonyx._base.enumerators import OperatorExportTypes, TrainingMode
from sardonyx._base.errors import usage_error

# Option: what it is when nobody set it, and what to write instead.
_OPTIONS: dict[str, tuple[Any, str]] = {
    "training": (None, "call model.eval() or model.train() before the export"),
    "operator_export_type": (
        None,
        "custom_translation_table has translators of operators that the library lacks",
    ),
    "do_constant_folding": (
        True,
        "optimize=False leaves the graph as it was translated, weights included",
    ),
    "custom_opsets": (
        None,
        "sardonyx.op.domain(name, version) and ops.symbolic(version=...) say it",
    ),
    "autograd_inlining": (
        True,
        "a Function with a static method `symbolic` is kept as what that says",
    ),
    "dynamo": (True, "torch.export captures, and torch.jit.trace only what that does not"),
    "dynamic_axes": (None, "dynamic_shapes={'x': {0: 'batch'}} says the same"),
}


def warn_of_older_options(options: Any) -> None:
    """A DeprecationWarning for each of the record's older options that is not as by itself."""
    for name, (unset, instead) in _OPTIONS.items():
        value = getattr(options, name)
        if value is not unset and value != unset and not _is_default_enumerator(value):
            warnings.warn(f"{name} is deprecated: {instead}", DeprecationWarning, stacklevel=3)


def _is_default_enumerator(value: Any) -> bool:
    # TrainingMode.EVAL and OperatorExportTypes.ONNX, torch.onnx.export's own defaults.
    return getattr(value, "name", None) in ("EVAL", "ONNX")


@dataclass(frozen=True)
class OlderOptions:
    """The older exporter's options as the export needs them."""

    mode: Any
    fall_through: str
    keep_autograd_functions: bool
    domain_versions: dict[str, int]

    @staticmethod
    def of(
        training: Any,
        operator_export_type: Any,
        custom_opsets: Mapping[str, int] | None,
        autograd_inlining: bool,
        *,
        dynamo: bool = True,
    ) -> OlderOptions:
        """UsageError for values that they do not have. Without `dynamo` a model is exported for
        inference, unless `training` asks for something else: the older exporter's default."""
        name = getattr(operator_export_type, "name", None)
        if operator_export_type is not None and name not in OperatorExportTypes.__members__:
            raise usage_error(
                f"operator_export_type={operator_export_type!r} is no OperatorExportTypes"
            )
        mode = getattr(training, "name", None)
        if training is not None and mode not in TrainingMode.__members__:
            raise usage_error(f"training={training!r} is no TrainingMode")
        fall_through = {"ONNX_FALLTHROUGH": "as-is", "ONNX_ATEN": "aten"}.get(name or "", "no")
        if name == "ONNX_ATEN_FALLBACK":
            fall_through = "aten"
        unset = TrainingMode.PRESERVE if dynamo else TrainingMode.EVAL
        return OlderOptions(
            mode=unset if training is None else training,
            fall_through=fall_through,
            keep_autograd_functions=fall_through != "no" or not autograd_inlining,
            domain_versions=_versions(custom_opsets),
        )


def _versions(custom_opsets: Mapping[str, int] | None) -> dict[str, int]:
    versions = dict(custom_opsets or {})
    for domain, version in versions.items():
        if not isinstance(domain, str) or not domain or not isinstance(version, int):
            raise usage_error(
                f"custom_opsets={versions!r} is no dict from names of domains to versions"
            )
    return versions


def is_older_form(model: Any, args: tuple[Any, ...]) -> bool:
    """Whether the last of `args` is a dict of keyword arguments, as the older exporter took them.

    It is one if its keys are parameters of forward() that the other `args` do not fill, and if
    forward() does not take a dict there.
    """
    last = args[-1]
    forward = getattr(model, "forward", None)
    if forward is None or not isinstance(last, dict) or not last:
        return False
    parameters = list(inspect.signature(forward).parameters.values())
    taken = {parameter.name for parameter in parameters[: len(args) - 1]}
    free = {parameter.name for parameter in parameters} - taken
    return set(last) <= free


def ends_with_no_keywords(model: Any, args: tuple[Any, ...]) -> bool:
    """Whether the last of `args` is the older exporter's `{}`, which says that a dict before it is
    an input and no keyword arguments."""
    forward = getattr(model, "forward", None)
    if forward is None or not args or not isinstance(args[-1], dict) or args[-1]:
        return False
    signature = inspect.signature(forward)
    if not _binds(signature, args[:-1]):
        return False
    return not _binds(signature, args) or (len(args) > 1 and isinstance(args[-2], dict))


def _binds(signature: inspect.Signature, args: tuple[Any, ...]) -> bool:
    try:
        signature.bind(*args)
    except TypeError:
        return False
    return True

"""The registry of translators that belongs to one exporter's options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sardonyx import _native
from sardonyx._base.errors import usage_error

if TYPE_CHECKING:
    from .translators import Translators


@dataclass(frozen=True)
class ONNXFunction:
    """One function that translates an operator. `onnx_function` is None for the library's own,
    which are native."""

    onnx_function: Callable[..., Any] | None
    op_full_name: str
    is_custom: bool = False
    is_complex: bool = False


class OnnxRegistry:
    """Translators of operators under one version of ONNX's operators.

    registry = sardonyx.OnnxRegistry()
    registry.register_op(translate_gelu, "aten", "gelu")
    options = sardonyx.ExportOptions(onnx_registry=registry)
    sardonyx.dynamo_export(model, x, export_options=options)
    """

    def __init__(self, opset_version: int | None = None) -> None:
        """`opset_version`: 13 to 28; the package's default when None."""
        self._opset = _native.default_opset if opset_version is None else opset_version
        if not _native.oldest_opset <= self._opset <= _native.newest_opset:
            raise usage_error(
                f"opset_version={opset_version} is not between {_native.oldest_opset} and "
                f"{_native.newest_opset}"
            )
        self._custom: dict[str, list[ONNXFunction]] = {}

    @property
    def opset_version(self) -> int:
        """The version of ONNX's operators that models are made for."""
        return self._opset

    def register_op(
        self,
        function: Callable[..., Any],
        namespace: str,
        op_name: str,
        overload: str | None = None,
        is_complex: bool = False,
    ) -> None:
        """Translates torch.ops.<namespace>.<op_name>.<overload> by `function`: an onnxscript
        function (which the model keeps as a local function), a traced one, or a Python function
        that calls `sardonyx.op.*`.

        With `is_complex` it is for calls that take or give complex tensors, which come and go as
        real ones with a last dimension of 2, or that take a complex number. The last registration
        counts. Raises ValueError for names that cannot be an operator's.
        """
        if not callable(function):
            raise usage_error(f"{function!r} is no function that could translate an operator")
        name = _name(namespace, op_name, overload)
        entry = ONNXFunction(function, name, is_custom=True, is_complex=is_complex)
        self._custom.setdefault(name, []).append(entry)

    def get_op_functions(
        self, namespace: str, op_name: str, overload: str | None = None
    ) -> list[ONNXFunction] | None:
        """What translates the operator, the library's own first and then in the order of
        registration; None where nothing does."""
        name = _name(namespace, op_name, overload)
        own = [ONNXFunction(None, name)] if _native.translates(name) else []
        return own + self._custom.get(name, []) or None

    def is_registered_op(self, namespace: str, op_name: str, overload: str | None = None) -> bool:
        """Whether anything translates the operator."""
        return self.get_op_functions(namespace, op_name, overload) is not None

    def fill(self, translators: Translators) -> None:
        """Adds what was registered."""
        for name, entries in self._custom.items():
            for entry in entries:
                assert entry.onnx_function is not None
                add = translators.add_complex if entry.is_complex else translators.add_plain
                add(name, entry.onnx_function)


def _name(namespace: str, op_name: str, overload: str | None) -> str:
    parts = [namespace, op_name, *([overload] if overload else [])]
    if any(not part or ":" in part or "." in part for part in parts):
        raise usage_error(
            f"namespace={namespace!r}, op_name={op_name!r}, overload={overload!r} is no operator: "
            "'namespace::op' has both, and neither has a dot or colon in it"
        )
    name = f"{namespace}::{op_name}"
    return name if overload in (None, "", "default") else f"{name}.{overload}"

"""How ONNX Runtime is to run a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .session import open_session

if TYPE_CHECKING:
    import onnxruntime


class ONNXRuntimeOptions:
    """Options of the session in which a program runs.

    `session_options` is an onnxruntime.SessionOptions, or a sequence whose first counts;
    `execution_providers` and `execution_provider_options` are as InferenceSession takes them.
    """

    def __init__(
        self,
        *,
        session_options: Sequence[onnxruntime.SessionOptions]
        | onnxruntime.SessionOptions
        | None = None,
        execution_providers: Sequence[str | tuple[str, dict[Any, Any]]] | None = None,
        execution_provider_options: Sequence[dict[Any, Any]] | None = None,
    ) -> None:
        self.session_options = session_options
        self.execution_providers = execution_providers
        self.execution_provider_options = execution_provider_options

    def session(self, model: str | bytes) -> Any:
        """The onnxruntime.InferenceSession of a model's path or bytes."""
        options = self.session_options
        if isinstance(options, Sequence):
            options = options[0] if options else None
        return open_session(
            model, options, self.execution_providers, self.execution_provider_options
        )

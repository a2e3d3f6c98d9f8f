"""Runs an exported component in ONNX Runtime, with the arguments and results of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch

from sardonyx._base.errors import usage_error
from sardonyx._base.packages import package
from sardonyx._runtime.session import open_session, run
from sardonyx._runtime.values import dtype_of_runtime
from sardonyx._transformers_private.exporters import exporter_class

from .files import path_of
from .signature import GraphInput, Signature

if TYPE_CHECKING:
    from sardonyx._model.program import ONNXProgram

    class ModelRunner:
        """What Sardonyx knows of transformers' class."""

else:
    ModelRunner = exporter_class("ModelRunner")


# The session of a program, and what it was opened with: two components may have one program.
_SESSIONS: WeakKeyDictionary[ONNXProgram, tuple[tuple[Any, ...], Any]] = WeakKeyDictionary()


class SardonyxRunner(ModelRunner):
    """Runs a graph: `runner(**kwargs)` takes what the model takes and returns what it returns."""

    def __init__(self, metadata: Any, session: Any) -> None:
        # Not super().__init__(): the specs in the metadata are Sardonyx's own.
        self.metadata = metadata
        self.session = session
        self._signature = Signature.of(metadata.in_spec, metadata.out_spec)
        self._inputs = [
            GraphInput(each.name, each.shape, dtype_of_runtime(each.type))
            for each in session.get_inputs()
        ]

    @classmethod
    def from_program(
        cls,
        program: ONNXProgram,
        metadata: Any,
        device: Any = None,
        providers: list[Any] | None = None,
        session_options: Any = None,
    ) -> SardonyxRunner:
        """A runner of a program as an export returns it, or as `load_program` reads it.

        Args:
            program: the model.
            metadata: what the export recorded of it.
            device: "cpu" or "cuda"; None takes the CPU.
            providers: ONNX Runtime's own list, in place of the one for `device`.
            session_options: an onnxruntime.SessionOptions.

        Raises UsageError where the installed ONNX Runtime does not run on the device.
        """
        if device is not None and providers is not None:
            raise usage_error("give either device or providers: the providers choose the device")
        chosen = providers or _providers(torch.device(device or "cpu"))

        def opened(source: str | bytes) -> Any:
            return open_session(source, session_options, chosen)

        known = (repr(chosen), id(session_options))
        if _SESSIONS.get(program, ((), None))[0] != known:
            path = path_of(program)
            if path is None:
                program.initialize_inference_session(opened)
            session = program.session if path is None else opened(str(path))
            _SESSIONS[program] = (known, session)
        return cls(metadata, _SESSIONS[program][1])

    @property
    def device(self) -> torch.device:
        """Where the graph runs."""
        on_gpu = self.session.get_providers()[0] in _OF_CUDA
        return torch.device("cuda" if on_gpu else "cpu")

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the model that was exported."""
        found: torch.dtype = getattr(torch, self.metadata.export_dtype)
        return found

    def __call__(
        self,
        share_inputs: bool = True,  # noqa: ARG002 (of the interface)
        share_outputs: bool = False,  # noqa: ARG002 (of the interface)
        **kwargs: Any,
    ) -> Any:
        """The result of the model for these arguments. Values are never shared with the caller,
        whatever the first two say."""
        feed = self._signature.feed(kwargs, self._inputs)
        names = list(dict.fromkeys(self._signature.results))
        made = run(self.session, feed, names)
        return self._signature.result(dict(zip(names, made, strict=True)))


_OF_CUDA = ("CUDAExecutionProvider", "TensorrtExecutionProvider")


def _providers(device: torch.device) -> list[Any]:
    ort = package("onnxruntime", "running a model")
    if device.type == "cpu":
        return ["CPUExecutionProvider"]
    available = ort.get_available_providers()
    if device.type != "cuda" or "CUDAExecutionProvider" not in available:
        raise usage_error(
            f"this ONNX Runtime does not run on {device}: it has {', '.join(available)}",
            "pip install onnxruntime-gpu" if device.type == "cuda" else "",
        )
    return [("CUDAExecutionProvider", {"device_id": device.index or 0}), "CPUExecutionProvider"]

"""Runs a model in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sardonyx._base.packages import package
from sardonyx._base.versions import warn_untested

from .values import from_runtime, to_runtime

if TYPE_CHECKING:
    import torch


def open_session(
    model: str | bytes,
    session_options: Any = None,
    providers: Sequence[Any] | None = None,
    provider_options: Sequence[dict[Any, Any]] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Any:
    """An onnxruntime.InferenceSession for a model's path or bytes, on the CPU where no providers
    are given, and without its warnings where no options are, with further `settings` by name."""
    ort = package("onnxruntime", "running a model")
    warn_untested("onnxruntime")
    if session_options is None:
        session_options = ort.SessionOptions()
        session_options.log_severity_level = 3
        for name, value in (settings or {}).items():
            session_options.add_session_config_entry(name, value)
    return ort.InferenceSession(
        model,
        session_options,
        providers=["CPUExecutionProvider"] if providers is None else list(providers),
        provider_options=provider_options,
    )


def run(
    session: Any, feed: Mapping[str, Any], outputs: Sequence[str], run_options: Any = None
) -> list[torch.Tensor]:
    """The outputs of one run; `feed` holds tensors and numbers by input name, `run_options` is an
    onnxruntime.RunOptions."""
    real = {i.name for i in session.get_inputs() if i.type == "tensor(double)"}
    fed = {
        name: to_runtime(_wide(value) if name in real else value) for name, value in feed.items()
    }
    made = session.run_with_ort_values(list(outputs), fed, run_options)
    return [from_runtime(value) for value in made]


def _wide(value: Any) -> Any:
    """A float of Python, which is float64 where a model takes that."""
    if type(value) is not float:
        return value
    import torch

    return torch.tensor(value, dtype=torch.float64)

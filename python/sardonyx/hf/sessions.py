"""The ONNX files of a folder, opened in ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx._run.session import open_session, run

if TYPE_CHECKING:
    import torch


class Sessions:
    """The ONNX files of a folder.

    Attributes:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        """None is opened yet."""
        self.folder = folder
        self._sessions: dict[str, Any] = {}

    def session(self, part: str) -> Any:
        """The onnxruntime.InferenceSession of a part, opened when it is first asked for."""
        if part not in self._sessions:
            self._sessions[part] = open_session(str(self.folder / f"{part}.onnx"))
        return self._sessions[part]

    def inputs(self, part: str) -> dict[str, list[Any]]:
        """The inputs of a part with their sizes, by name where they vary."""
        return {value.name: list(value.shape) for value in self.session(part).get_inputs()}

    def __call__(self, part: str = "model", **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        """Runs a part; returns its outputs by name."""
        session = self.session(part)
        outputs = [value.name for value in session.get_outputs()]
        return dict(zip(outputs, run(session, inputs, outputs), strict=True))

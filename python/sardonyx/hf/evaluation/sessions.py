"""The ONNX files of a folder, opened in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from sardonyx._base.errors import UsageError, refusal
from sardonyx._base.packages import package
from sardonyx._runtime.session import open_session, run
from sardonyx._runtime.values import dtype_of_runtime
from sardonyx.hf.adapters.adapter import SUFFIX

# Of products with weights that DequantizeLinear makes of blocks; ONNX Runtime's own is 4.
_ACCURACY = "session.qdq_matmulnbits_accuracy_level"

MODEL = "model"  # the part that a decoder is


class Sessions:
    """The ONNX files of a folder.

    Attributes:
        folder: where they are.
        rounds: whether the runtime may quantize the activations of MatMuls with block-wise
            quantized weights to 8 bits, as it does by default.
        adapter: the name of the LoRA adapter that runs use; None for the model without one.
        pipeline: the files that "model" is, without ".onnx", where it is several.
        static_cache: the tokens that the cache has places for; 0 where it grows.
        tokens_first: whether sequences must be padded on the right: a decoder for
            onnxruntime-genai counts the tokens of a sequence, and takes that many from its start.
    """

    def __init__(
        self,
        folder: Path,
        rounds: bool = True,
        tokens_first: bool = False,
        pipeline: Sequence[str] = (),
    ) -> None:
        """None is opened yet."""
        self.pipeline = list(pipeline)
        self.static_cache = 0
        self.folder = folder
        self.rounds = rounds
        self.tokens_first = tokens_first
        self.adapter: str | None = None
        self._sessions: dict[str, Any] = {}
        self._adapters: dict[str, Any] = {}

    def session(self, part: str) -> Any:
        """The onnxruntime.InferenceSession of a part, opened when it is first asked for."""
        if part not in self._sessions:
            settings = {} if self.rounds else {_ACCURACY: "0"}
            path = str(self.folder / f"{part}.onnx")
            self._sessions[part] = open_session(path, settings=settings)
        return self._sessions[part]

    def inputs(self, part: str) -> dict[str, list[Any]]:
        """The inputs of a part with their sizes, by name where they vary."""
        return {value.name: list(value.shape) for value in self.typed_inputs(part)}

    def outputs(self, part: str) -> dict[str, list[Any]]:
        """The outputs of a part, in the same form."""
        return {
            value.name: list(value.shape)
            for stage in self._stages(part)
            for value in self.session(stage).get_outputs()
        }

    def typed_inputs(self, part: str) -> list[Any]:
        """The inputs of a part as ONNX Runtime describes them; each has name, type and shape."""
        found: dict[str, Any] = {}
        made: set[str] = set()
        for stage in self._stages(part):
            session = self.session(stage)
            for value in session.get_inputs():
                if value.name not in made:
                    found.setdefault(value.name, value)
            made |= {value.name for value in session.get_outputs()}
        return list(found.values())

    def _stages(self, part: str) -> list[str]:
        return self.pipeline if part == MODEL and self.pipeline else [part]

    def __call__(self, part: str = "model", **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        """Runs a part; returns its outputs by name. Floating inputs are rounded to its types."""
        made: dict[str, torch.Tensor] = {}
        for stage in self._stages(part):
            made |= self._run(stage, inputs | made)
        return made

    def _run(self, part: str, values: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        session = self.session(part)
        types = {value.name: dtype_of_runtime(value.type) for value in session.get_inputs()}
        inputs = {
            name: value.to(types[name]) if value.is_floating_point() else value
            for name, value in values.items()
            if len(self.pipeline) == 0 or name in types
        }
        outputs = [value.name for value in session.get_outputs()]
        made = run(session, inputs, outputs, self._run_options())
        return dict(zip(outputs, made, strict=True))

    def _run_options(self) -> Any:
        """Those of a run with the adapter, which is read when it is first used."""
        if self.adapter is None:
            return None
        ort = package("onnxruntime", "running a model")
        if self.adapter not in self._adapters:
            file = self.folder / f"{self.adapter}{SUFFIX}"
            if not file.is_file():
                known = sorted(each.stem for each in self.folder.glob(f"*{SUFFIX}"))
                raise refusal(
                    "SX1001",
                    f"there is no adapter '{self.adapter}' in {self.folder}",
                    f"adapters: {', '.join(known) or 'none'}",
                    UsageError,
                )
            self._adapters[self.adapter] = ort.LoraAdapter()
            self._adapters[self.adapter].Load(str(file))
        options = ort.RunOptions()
        options.add_active_adapter(self._adapters[self.adapter])
        return options

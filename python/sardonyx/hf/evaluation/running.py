"""Exported folders, run in ONNX Runtime: a thin loop for trying them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sardonyx._base.errors import UsageError, refusal
from sardonyx.hf.components.encoder_decoders import FIRST
from sardonyx.hf.components.multimodal import DECODER
from sardonyx.hf.output.genai import is_for
from sardonyx.hf.output.writing import REPORT

from .generation import decode, decode_of_encoder, decode_with_media
from .sessions import Sessions

if TYPE_CHECKING:
    import torch


class ExportedFolder(Sessions):
    """A folder that `sardonyx hf` wrote, with sessions for its models.

    Attributes:
        folder: where it is.
        report: what the export wrote of itself.
    """

    def __init__(self, folder: Path, report: dict[str, Any], rounds: bool = True) -> None:
        """Use `load()`."""
        stages = [file.removesuffix(".onnx") for file in report.get("pipeline", [])]
        super().__init__(folder, rounds, is_for(report.get("runtime", "")), stages)
        self.report = report
        self.static_cache = int(report.get("static_cache", 0))

    @property
    def part_names(self) -> list[str]:
        """The ONNX files, without ".onnx"."""
        return [part["file"].removesuffix(".onnx") for part in self.report["parts"]]

    @property
    def takes_embeddings(self) -> bool:
        """Whether its decoder takes embeddings, among which images or sounds can stand."""
        return DECODER in self.part_names and FIRST not in self.part_names

    def generate(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        max_new_tokens: int = 20,
        eos_token_id: int | None = None,
        adapter: str | None = None,
        **inputs: torch.Tensor,
    ) -> torch.Tensor:
        """Greedy tokens [batch, length], the prompt included.

        Parameters:
            input_ids: the prompt [batch, length]; of an encoder-decoder, what the encoder takes.
            attention_mask: 0 where the prompt is padding, which is on its left; ones by default.
            max_new_tokens: how many tokens are added at most.
            eos_token_id: ends the loop when all rows have it; None never does.
            adapter: the name of a LoRA adapter that was exported with the model; None runs it
                without one.
            inputs: what else an encoder takes, input_features or pixel_values with what belongs to
                them; and position_ids of the prompt, for models that have them in several
                directions.
        """
        self.adapter = adapter
        if FIRST in self.part_names:
            given = dict(inputs)
            if input_ids is not None:
                given["input_ids"] = input_ids
            if attention_mask is not None:
                given["attention_mask"] = attention_mask
            return decode_of_encoder(self, given, max_new_tokens, eos_token_id)
        if input_ids is None:
            raise refusal("SX1001", "generate() needs input_ids", "", UsageError)
        if self.takes_embeddings:
            given = {} if attention_mask is None else {"attention_mask": attention_mask}
            given |= inputs
            return decode_with_media(self, input_ids, given, max_new_tokens, eos_token_id)
        return decode(self, input_ids, attention_mask, max_new_tokens, eos_token_id)


def load(folder: str | os.PathLike[str]) -> ExportedFolder:
    """What `sardonyx.hf.export` wrote. SX2001 for another folder. Needs onnxruntime."""
    path = Path(folder)
    try:
        report = json.loads((path / REPORT).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise refusal(
            "SX2001", f"{path} is no exported folder: {error}", "export a checkpoint to it first",
            UsageError,
        ) from error  # fmt: skip
    return ExportedFolder(path, report)

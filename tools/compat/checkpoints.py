"""Makes a small checkpoint with random weights, in an environment that has transformers.

python checkpoints.py llama|whisper FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
import transformers


def llama() -> Any:
    """Two layers, grouped heads."""
    config = transformers.LlamaConfig(
        hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=100,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def whisper() -> Any:
    """Two layers on either side."""
    config = transformers.WhisperConfig(
        d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=48, decoder_ffn_dim=48, vocab_size=100,
        num_mel_bins=80, max_source_positions=50, max_target_positions=64, pad_token_id=1,
        bos_token_id=1, eos_token_id=1, decoder_start_token_id=2, suppress_tokens=None,
        begin_suppress_tokens=None,
    )  # fmt: skip
    return transformers.WhisperForConditionalGeneration(config)


def main(kind: str, folder: Path) -> None:
    """Writes the checkpoint of that kind."""
    torch.manual_seed(0)
    model = {"llama": llama, "whisper": whisper}[kind]().eval()
    with torch.no_grad():
        for parameter in model.parameters():  # wide enough that greedy tokens vary
            if parameter.dim() > 1:
                parameter.mul_(8)
    model.save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

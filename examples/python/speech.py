"""Speech from samples to letters, spectrogram included: speech.py out.onnx

What a service gets is sound; the model takes it as it is, of any length.
"""

from __future__ import annotations

import sys

import torch
from torch import nn

import sardonyx


class Recognizer(nn.Module):
    """(batch, samples) to logarithms of probabilities (batch, frames, letters), for CTC."""

    def __init__(self, window: int = 256, hop: int = 128, letters: int = 29) -> None:
        super().__init__()
        self.window, self.hop = window, hop
        self.register_buffer("taper", torch.hann_window(window))
        self.layers = nn.Conv1d(window // 2 + 1, 32, 3, padding=1)
        self.recurrent = nn.GRU(32, 24, batch_first=True, bidirectional=True)
        self.letters = nn.Linear(48, letters)

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        """For each frame, what each letter's logarithm of probability is."""
        spectrum = torch.stft(
            samples, self.window, self.hop, window=self.taper, center=False, return_complex=True
        )
        power = torch.view_as_real(spectrum).square().sum(-1)
        hidden = self.layers((power + 1e-6).log()).relu().mT
        return self.letters(self.recurrent(hidden)[0]).log_softmax(-1)


def main(path: str) -> tuple[Recognizer, sardonyx.ONNXProgram]:
    """Exports the recognizer for sound of any length."""
    torch.manual_seed(0)
    model = Recognizer().eval()
    program = sardonyx.export(
        model, (torch.randn(2, 4000),), path, dynamic_shapes=[{0: "batch", 1: "samples"}]
    )
    return model, program


if __name__ == "__main__":
    main(sys.argv[1])

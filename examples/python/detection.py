"""A detector whose post-processing is in the graph: detection.py out.onnx

Boxes are decoded, those below a score dropped, and the best kept, in the model: how many come out
depends on the image, and the model's outputs say so.
"""

from __future__ import annotations

import sys

import torch
from torch import nn

import sardonyx


class Detector(nn.Module):
    """(batch of 1, 3, height, width) to boxes (n, 4) in pixels and scores (n,), the best first."""

    def __init__(self, stride: int = 8, threshold: float = 0.5) -> None:
        super().__init__()
        self.stride, self.threshold = stride, threshold
        self.body = nn.Sequential(nn.Conv2d(3, 16, stride, stride), nn.ReLU())
        self.head = nn.Conv2d(16, 5, 1)  # a score, and how far each side is from the cell's center

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Boxes and scores."""
        raw = self.head(self.body(image))[0]
        rows, columns = raw.shape[1:]
        y = (torch.arange(rows) + 0.5) * self.stride
        x = (torch.arange(columns) + 0.5) * self.stride
        center = torch.stack(torch.meshgrid(y, x, indexing="ij")[::-1]).flatten(1).T
        reach = raw[1:].flatten(1).T.exp() * self.stride
        boxes = torch.cat([center - reach[:, :2], center + reach[:, 2:]], 1)
        scores = raw[0].flatten().sigmoid()
        kept = scores > self.threshold
        boxes, scores = boxes[kept], scores[kept]
        order = scores.argsort(descending=True, stable=True)
        return boxes[order], scores[order]


def main(path: str) -> sardonyx.ONNXProgram:
    """Exports the detector for images of any size that its cells divide."""
    torch.manual_seed(0)
    rows, columns = torch.export.Dim("rows", min=2), torch.export.Dim("columns", min=2)
    return sardonyx.export(
        Detector().eval(),
        (torch.randn(1, 3, 64, 96),),
        path,
        output_names=["boxes", "scores"],
        dynamic_shapes=[{2: 8 * rows, 3: 8 * columns}],
    )


if __name__ == "__main__":
    main(sys.argv[1])

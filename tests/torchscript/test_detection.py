"""Models that find boxes in images: how many there are only the data tell."""

from __future__ import annotations

import warnings

import numpy as np
import onnxruntime as ort
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import sardonyx

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _areas(boxes: Tensor) -> Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def _suppressed(boxes: Tensor, scores: Tensor, most: float) -> Tensor:
    """Which boxes are kept, the best first: those that overlap no better one by more."""
    order = torch.argsort(scores, descending=True)
    boxes = boxes[order]
    kept = torch.ones(boxes.size(0), dtype=torch.bool)
    positions = torch.arange(boxes.size(0))
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for i in range(boxes.size(0)):
        if bool(kept[i]):
            low = torch.maximum(boxes[:, :2], boxes[i, :2])
            high = torch.minimum(boxes[:, 2:], boxes[i, 2:])
            sides = (high - low).clamp(min=0)
            common = sides[:, 0] * sides[:, 1]
            overlap = common / (areas + areas[i] - common)
            kept = kept & ((overlap <= most) | (positions <= i))
    return order[kept]


class Detector(nn.Module):
    """One stage: boxes around the cells of a map, those with good scores, without doubles, and what
    the map holds inside of them."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1))
        self.head = nn.Conv2d(8, 5, 1)
        self.classes = nn.Linear(8 * 4, 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.suppress = torch.jit.script(_suppressed)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        features = self.backbone(image)
        found = self.head(features)[0].flatten(1).t()
        rows, columns = features.shape[-2:]
        y, x = torch.meshgrid(torch.arange(rows) * 4.0, torch.arange(columns) * 4.0, indexing="ij")
        centers = torch.stack([x.flatten(), y.flatten()], 1)
        sides = torch.exp(found[:, 2:4].clamp(max=2)) * 6
        middles = centers + found[:, :2]
        boxes = torch.cat([middles - sides / 2, middles + sides / 2], 1)
        scores = torch.sigmoid(found[:, 4] * 8)
        good = torch.nonzero(scores > 0.4).flatten()
        boxes, scores = boxes[good], scores[good]
        keep = self.suppress(boxes, scores, 0.3)
        boxes, scores = boxes[keep], scores[keep]
        return boxes, scores, self.classes(self._inside(features, boxes, image.shape[-2:]))

    def _inside(self, features: Tensor, boxes: Tensor, size: tuple[int, int]) -> Tensor:
        steps = torch.linspace(0.25, 0.75, 2)
        x = boxes[:, None, 0] + steps * (boxes[:, 2] - boxes[:, 0])[:, None]
        y = boxes[:, None, 1] + steps * (boxes[:, 3] - boxes[:, 1])[:, None]
        x, y = x / size[1] * 2 - 1, y / size[0] * 2 - 1
        grid = torch.stack([x[:, None, :].expand(-1, 2, -1), y[:, :, None].expand(-1, -1, 2)], -1)
        maps = features.expand(boxes.shape[0], -1, -1, -1)
        return functional.grid_sample(maps, grid, align_corners=False).flatten(1)


def test_a_detector_finds_as_many_boxes_as_there_are_at_any_size() -> None:
    torch.manual_seed(0)
    model = Detector().eval()
    example = torch.randn(1, 3, 32, 40)
    program = sardonyx.export(
        model,
        (example,),
        dynamic_shapes={"image": {2: "height", 3: "width"}},
        capture="trace",
    )
    session = ort.InferenceSession(
        program.model_proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    counts = set()
    for height, width in ((32, 40), (64, 48), (24, 96)):
        image = torch.randn(1, 3, height, width)
        expected = model(image)
        found = session.run(None, {"image": image.numpy()})
        counts.add(len(found[0]))
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.shape == tuple(theirs.shape)
            np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-3, atol=1e-3)
    assert len(counts) == 3
    assert min(counts) > 1


def test_a_refusal_of_what_data_decide_names_tracing() -> None:
    class Deciding(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            while x.sum() > 0:
                x = x - 1
            return x

    with pytest.raises(sardonyx.CaptureError, match="capture='trace'"):
        sardonyx.export(Deciding(), (torch.ones(2, 3),))

"""torchvision's detection models, with default options: sizes of images and numbers of boxes vary.

`make detection` runs it, in an environment of its own: torchvision needs its own PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
import torch
from torch import nn

import sardonyx

detection = pytest.importorskip(
    "torchvision.models.detection", reason="make detection has torchvision"
)
pytestmark = pytest.mark.filterwarnings("ignore")

_SMALL: dict[str, Any] = {"min_size": 160, "max_size": 240}
_TWO_STAGES = {
    **_SMALL,
    "box_score_thresh": 0.05,
    "box_detections_per_img": 20,  # fewer have nearly equal scores, which change places
    "rpn_pre_nms_top_n_test": 200,
    "rpn_post_nms_top_n_test": 100,
}
_ONE_STAGE = {"score_thresh": 0.05, "topk_candidates": 200, "detections_per_img": 20}

MODELS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "Faster R-CNN": ("fasterrcnn_resnet50_fpn", _TWO_STAGES),
    "Faster R-CNN, version 2": ("fasterrcnn_resnet50_fpn_v2", _TWO_STAGES),
    "Faster R-CNN, small": ("fasterrcnn_mobilenet_v3_large_320_fpn", _TWO_STAGES),
    "Mask R-CNN": ("maskrcnn_resnet50_fpn", _TWO_STAGES),
    "Keypoint R-CNN": ("keypointrcnn_resnet50_fpn", {**_TWO_STAGES, "num_keypoints": 5}),
    "RetinaNet": ("retinanet_resnet50_fpn", {**_SMALL, **_ONE_STAGE}),
    "SSD": ("ssd300_vgg16", _ONE_STAGE),
    "SSD, small": ("ssdlite320_mobilenet_v3_large", _ONE_STAGE),
    "FCOS": ("fcos_resnet50_fpn", {**_SMALL, **_ONE_STAGE}),
}


def spread(model: nn.Module, image: torch.Tensor) -> nn.Module:
    """The weights made so that what each layer gives has a deviation of one: scores then differ,
    as they do not where random weights make all boxes alike."""

    def scale(layer: nn.Module, given: Any, result: torch.Tensor) -> torch.Tensor:
        by = float(result.std()) if result.numel() > 1 else 1.0
        with torch.no_grad():
            for parameter in layer.parameters(recurse=False):
                parameter.div_(by or 1.0)
        return result / (by or 1.0)

    layers = [m for m in model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    for layer in layers:
        nn.init.normal_(layer.weight)
        if layer.bias is not None:
            nn.init.normal_(layer.bias, 0, 0.1)
    done: set[nn.Module] = set()

    def once(layer: nn.Module, given: Any, result: torch.Tensor) -> torch.Tensor | None:
        if layer in done:
            return None
        done.add(layer)
        return scale(layer, given, result)

    hooks = [layer.register_forward_hook(once) for layer in layers]
    with torch.no_grad():
        model.eval()([image])
    for hook in hooks:
        hook.remove()
    return model


@pytest.mark.parametrize("name", MODELS)
def test_a_model_finds_what_eager_does_in_images_of_other_sizes(name: str) -> None:
    maker, options = MODELS[name]
    make: Callable[..., nn.Module] = getattr(detection, maker)
    classes = 2 if name.startswith("Keypoint") else 5
    torch.manual_seed(0)
    made = make(weights=None, weights_backbone=None, num_classes=classes, **options)
    model = spread(made, torch.rand(3, 160, 200))
    program = sardonyx.export(
        model, ([torch.rand(3, 180, 200)],), dynamic_shapes=([{1: "height", 2: "width"}],)
    )
    session = ort.InferenceSession(
        program.model_proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    counts = set()
    for height, width in ((180, 200), (150, 260), (240, 170)):
        image = torch.rand(3, height, width)
        with torch.no_grad():
            expected: dict[str, torch.Tensor] = model([image])[0]
        found = session.run(None, {session.get_inputs()[0].name: image.numpy()})
        assert len(found) == len(expected)
        counts.add(len(expected["boxes"]))
        for (key, theirs), ours in zip(expected.items(), found, strict=True):
            # Boxes and keypoints are in pixels.
            unit = max(height, width) if key in ("boxes", "keypoints") else 10
            np.testing.assert_allclose(
                ours,
                theirs.numpy(),
                rtol=1e-4,
                atol=1e-4 * unit,
                err_msg=f"{key} of {height}x{width}",
            )
    assert min(counts) > 1

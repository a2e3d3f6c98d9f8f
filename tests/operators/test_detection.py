"""torchvision's operators: boxes, regions of interest, deformable convolution."""

from __future__ import annotations

import torch

from tests.operators.check import Case, check, refused, table
from tests.operators.inputs import floats, of, positive
from tests.operators.torchvision_operators import register
from tests.opinfo.rules import scaled

register()
ops = torch.ops.torchvision

CORNERS = positive(12, 2, seed=7) * 4
BOXES = torch.cat([CORNERS, CORNERS + positive(12, 2, seed=8) * 3], 1)
SCORES = positive(12, seed=9)
X = floats(2, 3, 9, 11)
PARTS = floats(2, 12, 9, 11)
ROIS = of(
    [0.0, 1.0, 2.0, 7.5, 6.0],
    [1.0, 0.0, 0.0, 10.0, 8.0],
    [1.0, 3.2, 4.1, 3.9, 4.3],
    [0.0, -4.0, -3.0, 5.0, 30.0],
    [0.0, 6.0, 5.0, 2.0, 3.0],
)


@table(
    (lambda b, s: ops.nms(b, s, 0.5), BOXES, SCORES),
    (lambda b, s: ops.nms(b, s, 0.1), BOXES, SCORES),
    (lambda b, s: ops.nms(b, s, 1.0), BOXES, SCORES),
    (lambda b, s: ops.nms(b[:0, :4], s[:0], 0.3), BOXES, SCORES),
    (lambda b, s: ops.nms(b, s, 0.3), BOXES[:1].expand(5, 4).clone(), of(1.0, 2.0, 2.0, 0.5, -1.0)),
    (lambda b, s: ops.nms(b, s, 0.5), of([0.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 1.0]), of(2.0, 1.0)),
    (lambda b, s: b[ops.nms(b, s, 0.5)], BOXES, SCORES),
    (lambda x, r: ops.roi_align(x, r, 1.0, 3, 2, 2, True), X, ROIS),
    (lambda x, r: ops.roi_align(x, r, 0.5, 3, 2, 2, False), X, ROIS),
    (lambda x, r: ops.roi_align(x, r, 0.5, 2, 3, 0, False), X, ROIS),
    (lambda x, r: ops.roi_align(x, r, 1.0, 2, 3, -1, True), X, ROIS[:4]),
    (lambda x, r: ops.roi_align(x, r, 1.0, 2, 3, 1, True), X.double(), ROIS.double()),
    (lambda x, r: ops.roi_align(x, r, 1.0, 2, 3, 1, True), X, torch.zeros(0, 5)),
    (lambda x, r: ops.roi_pool(x, r, 1.0, 3, 2)[0], X, ROIS),
    (lambda x, r: ops.roi_pool(x, r, 0.5, 2, 4)[0], X, ROIS),
    (lambda x, r: ops.ps_roi_align(x, r, 1.0, 3, 2, 2), PARTS, ROIS),
    (lambda x, r: ops.ps_roi_align(x, r, 0.5, 2, 2, 0), PARTS, ROIS[:3]),
    (lambda x, r: ops.ps_roi_pool(x, r, 1.0, 3, 2), PARTS, ROIS),
    (lambda x, r: ops.ps_roi_pool(x, r, 0.5, 2, 3)[0], PARTS, ROIS),
    (lambda x, r: ops.ps_roi_pool(x, r, 0.5, 2, 3)[0], PARTS.double(), ROIS.double()),
)
def test_regions(case: Case) -> None:
    check(case, scaled)


@table(
    (
        lambda x, w, o, m, b: ops.deform_conv2d(x, w, o, m, b, 1, 1, 0, 0, 1, 1, 1, 1, True),
        floats(2, 4, 6, 7),
        floats(3, 4, 3, 2),
        floats(2, 12, 4, 6),
        positive(2, 6, 4, 6),
        floats(3),
    ),
    (
        lambda x, w, o, m, b: ops.deform_conv2d(x, w, o, m, b, 2, 1, 1, 2, 1, 2, 2, 2, True),
        floats(2, 4, 6, 7),
        floats(4, 2, 3, 3),
        floats(2, 36, 3, 7) * 2,
        positive(2, 18, 3, 7),
        floats(4),
    ),
    (
        lambda x, w, o, m, b: ops.deform_conv2d(x, w, o, m, b, 1, 1, 1, 1, 1, 1, 1, 1, False),
        floats(1, 4, 5, 5).double(),
        floats(2, 4, 3, 3).double(),
        floats(1, 18, 5, 5).double(),
        torch.zeros(1, 1).double(),
        torch.zeros(2).double(),
    ),
)
def test_deformable_convolution(case: Case) -> None:
    check(case, scaled)


@table(
    refused(
        "SX1505 ONNX Runtime's CPU provider has no kernel of",
        lambda x: ops.roi_align(x, ROIS, 0.5, 3, 2, 2, False),
        X,
    ),
    refused(
        "SX1505 ONNX Runtime's CPU provider has no kernel of",
        lambda x: ops.roi_pool(x, ROIS, 0.5, 3, 2)[0],
        X,
    ),
)
def test_regions_have_no_kernel_from_opset_22(case: Case) -> None:
    check(case, scaled, opset=22)

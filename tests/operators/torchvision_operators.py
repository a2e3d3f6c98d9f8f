"""torchvision's operators under their own names and schemas, in plain PyTorch: torchvision is not
needed to judge their translations. Where torchvision is installed, its own are judged."""

# The arguments are those of the schemas.
# ruff: noqa: PLR0917

from __future__ import annotations

import functools
import importlib.util
import math
from typing import Any

import torch

T = torch.Tensor

_SCHEMAS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "roi_align": (
        "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
        "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor"
    ),
    "roi_pool": (
        "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
        "SymInt pooled_width) -> (Tensor, Tensor)"
    ),
    "ps_roi_align": (
        "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
        "SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)"
    ),
    "ps_roi_pool": (
        "(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
        "SymInt pooled_width) -> (Tensor, Tensor)"
    ),
    "deform_conv2d": (
        "(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
        "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, "
        "SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor"
    ),
}


def nms(dets: T, scores: T, iou_threshold: float) -> T:
    kept: list[int] = []
    for candidate in scores.argsort(descending=True, stable=True).tolist():
        x1, y1, x2, y2 = dets[candidate]
        for other in kept:
            u1, v1, u2, v2 = dets[other]
            width, height = (
                torch.min(x2, u2) - torch.max(x1, u1),
                torch.min(y2, v2) - torch.max(y1, v1),
            )
            inter = width.clamp(min=0) * height.clamp(min=0)
            union = (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - inter
            if float(inter / union) > iou_threshold:
                break
        else:
            kept.append(candidate)
    return torch.tensor(kept, dtype=torch.int64)


def bilinear(plane: T, y: float, x: float) -> T:
    """plane [C, H, W] at a point of RoiAlign: held inside when at most one element outside."""
    height, width = plane.shape[1:]
    if y < -1 or y > height or x < -1 or x > width:
        return plane.new_zeros(plane.shape[0])
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    ly, lx = y - top, x - left
    upper = plane[:, top, left] * (1 - lx) + plane[:, top, right] * lx
    lower = plane[:, bottom, left] * (1 - lx) + plane[:, bottom, right] * lx
    return upper * (1 - ly) + lower * ly


def roi_align(image: T, rois: T, scale: float, ph: int, pw: int, ratio: int, aligned: bool) -> T:
    out = image.new_zeros(len(rois), image.shape[1], ph, pw)
    shift = 0.5 if aligned else 0.0
    for r, (which, *corners) in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (c * scale - shift for c in corners)
        width, height = x2 - x1, y2 - y1
        if not aligned:
            width, height = max(width, 1.0), max(height, 1.0)
        rows = ratio if ratio > 0 else math.ceil(height / ph)
        columns = ratio if ratio > 0 else math.ceil(width / pw)
        for i in range(ph):
            for j in range(pw):
                for a in range(rows):
                    for b in range(columns):
                        y = y1 + (i + (a + 0.5) / rows) * height / ph
                        x = x1 + (j + (b + 0.5) / columns) * width / pw
                        out[r, :, i, j] += bilinear(image[int(which)], y, x)
                out[r, :, i, j] /= max(rows * columns, 1)
    return out


def away(x: float) -> int:
    return int(math.copysign(math.floor(abs(x) + 0.5), x))


def cells(low: int, length: int, count: int, limit: int) -> list[tuple[int, int]]:
    size = length / count
    return [
        (
            min(max(math.floor(i * size) + low, 0), limit),
            min(max(math.ceil((i + 1) * size) + low, 0), limit),
        )
        for i in range(count)
    ]


def roi_pool(image: T, rois: T, scale: float, ph: int, pw: int) -> tuple[T, T]:
    height, width = image.shape[2:]
    out = image.new_zeros(len(rois), image.shape[1], ph, pw)
    for r, (which, *corners) in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (away(c * scale) for c in corners)
        for i, (top, bottom) in enumerate(cells(y1, max(y2 - y1 + 1, 1), ph, height)):
            for j, (left, right) in enumerate(cells(x1, max(x2 - x1 + 1, 1), pw, width)):
                if bottom > top and right > left:
                    out[r, :, i, j] = image[int(which), :, top:bottom, left:right].amax((1, 2))
    return out, torch.zeros(out.shape, dtype=torch.int32)


def mapping(out: T) -> T:
    channels = torch.arange(math.prod(out.shape[1:]), dtype=torch.int32)
    return channels.reshape(out.shape[1:]).expand(out.shape).clone()


def ps_roi_align(image: T, rois: T, scale: float, ph: int, pw: int, ratio: int) -> tuple[T, T]:
    every = roi_align(image, rois, scale, ph, pw, ratio, True)
    every = every.reshape(len(rois), -1, ph, pw, ph, pw)
    out = torch.einsum("rcijij->rcij", every).clone()
    return out, mapping(out)


def ps_roi_pool(image: T, rois: T, scale: float, ph: int, pw: int) -> tuple[T, T]:
    height, width = image.shape[2:]
    parts = image.reshape(len(image), -1, ph, pw, height, width)
    out = image.new_zeros(len(rois), parts.shape[1], ph, pw)
    for r, (which, *corners) in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (away(c * scale) for c in corners)
        for i, (top, bottom) in enumerate(cells(y1, max(y2 - y1, 1), ph, height - 1)):
            for j, (left, right) in enumerate(cells(x1, max(x2 - x1, 1), pw, width - 1)):
                if bottom > top and right > left:
                    own = parts[int(which), :, i, j, top:bottom, left:right]
                    out[r, :, i, j] = own.mean((1, 2))
    return out, mapping(out)


def deform_conv2d(image: T, weight: T, offset: T, mask: T, bias: T, *window: int) -> T:
    sh, sw, pad_h, pad_w, dh, dw, groups, parts, use_mask = window
    n, channels, height, width = image.shape
    kh, kw = weight.shape[2:]
    rows, columns = offset.shape[2:]
    padded = torch.nn.functional.pad(image, (1, 1, 1, 1))  # one step outside counts as zero
    read = image.new_zeros(n, channels, kh, kw, rows, columns)
    deep = channels // parts
    moved = offset.reshape(n, parts, kh, kw, 2, rows, columns)
    for b, p, i, j, r, c in torch.cartesian_prod(
        *(torch.arange(s) for s in (n, parts, kh, kw, rows, columns))
    ).tolist():
        y = r * sh - pad_h + i * dh + float(moved[b, p, i, j, 0, r, c])
        x = c * sw - pad_w + j * dw + float(moved[b, p, i, j, 1, r, c])
        if -1 < y < height and -1 < x < width:
            own = slice(p * deep, (p + 1) * deep)
            read[b, own, i, j, r, c] = bilinear(padded[b, own], y + 1, x + 1)
    if use_mask:
        read = read * mask.reshape(n, parts, 1, kh, kw, rows, columns).expand(
            -1, -1, deep, -1, -1, -1, -1
        ).reshape(read.shape)
    flat = read.reshape(n, groups, -1, rows * columns)
    product = weight.reshape(groups, -1, flat.shape[2]) @ flat
    return product.reshape(n, -1, rows, columns) + bias[:, None, None]


def _fake_regions(image: T, rois: T, scale: float, ph: Any, pw: Any, *_: Any) -> T:
    return image.new_empty(rois.shape[0], image.shape[1], ph, pw)


def _fake_pool(image: T, rois: T, scale: float, ph: Any, pw: Any) -> tuple[T, T]:
    out = _fake_regions(image, rois, scale, ph, pw)
    return out, torch.empty(out.shape, dtype=torch.int32)


def _fake_parts(image: T, rois: T, scale: float, ph: Any, pw: Any, *_: Any) -> tuple[T, T]:
    out = image.new_empty(rois.shape[0], image.shape[1] // (ph * pw), ph, pw)
    return out, torch.empty(out.shape, dtype=torch.int32)


def _fake_nms(dets: T, scores: T, iou_threshold: float) -> T:
    size = torch.library.get_ctx().new_dynamic_size()
    return dets.new_empty(size, dtype=torch.int64)


def _fake_deform(image: T, weight: T, offset: T, *_: Any) -> T:
    return image.new_empty(image.shape[0], weight.shape[0], offset.shape[2], offset.shape[3])


_FAKES: dict[str, Any] = {
    "nms": _fake_nms,
    "roi_align": _fake_regions,
    "roi_pool": _fake_pool,
    "ps_roi_align": _fake_parts,
    "ps_roi_pool": _fake_parts,
    "deform_conv2d": _fake_deform,
}


@functools.cache  # operators are defined once a process
def register() -> None:
    if importlib.util.find_spec("torchvision"):
        import torchvision  # noqa: F401

        return
    for name, schema in _SCHEMAS.items():
        torch.library.define(f"torchvision::{name}", schema)
        torch.library.impl(f"torchvision::{name}", "CPU")(globals()[name])
        torch.library.register_fake(f"torchvision::{name}")(_FAKES[name])

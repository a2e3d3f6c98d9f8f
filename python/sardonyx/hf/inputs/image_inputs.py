"""Example images: whole, in tiles, and as patches with the size of the image beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

from sardonyx.hf.base.example import BATCH, Example, Tensors, noise, random_values
from sardonyx.hf.base.settings import setting

_IMAGE = {0: BATCH, 2: "height", 3: "width"}
# How many tiles an image of one tile's size may be cut into, its thumbnail counted.
_TILES = (1, 2, 3, 5)
_PATCHES_A_SIDE = 16
_MAX_PATCHES_A_SIDE = 40
_FRAMES = 4
# Of an image whose patches the model does not count.
_PATCHES_OF_ANY = 4
# The side that the user asked for.
_ASKED: ContextVar[int | None] = ContextVar("image_size", default=None)


@contextmanager
def of_size(side: int | None) -> Iterator[None]:
    """Within it, images are squares of this many pixels a side; None: as the configuration says."""
    token = _ASKED.set(side)
    try:
        yield
    finally:
        _ASKED.reset(token)


def pictures(accepted: set[str], config: Any) -> Iterator[Example]:
    """What a model may take for an image, likeliest first."""
    yield from _packed(accepted, config)
    if "pixel_values" not in accepted:
        return
    if "spatial_shapes" in accepted:
        yield _padded_patches(accepted, config)
    if places := _first(accepted, "image_position_ids", "pixel_position_ids"):
        yield from _placed_patches(places, config)
    if "target_sizes" in accepted:
        yield _patches_in_a_row(config)
    found = list(sides(config))
    if "image_sizes" in accepted:
        found = [*_smaller(config, found[0]), *found]
    if "aspect_ratio_ids" in accepted:
        yield from (_tiles_by_ratio(config, *found[0]),) if found else ()
    yield from _whole(config, found, _frames(accepted, config))
    for height, width in found:
        if "image_sizes" in accepted:
            yield _sized(config, height, width, None)
            yield from (_sized(config, height, width, tiles) for tiles in _TILES)
        if accepted & {"pixel_attention_mask", "num_images", "image_attention_mask"}:
            yield _several(accepted, config, height, width)
        if "pixel_attention_mask" in accepted:
            yield _listed(config, height, width)
    channels = setting(config, "num_channels", default=3)
    for height, width in found[:2]:
        # Two of what is the same in both.
        yield noise(
            "pixel_values", (2, channels, height, width), {0: BATCH, 3: "height", 4: "width"}
        )
    if isinstance(patch := setting(config, "patch_size"), int):
        # Patches, each with all that it holds in a row, and nothing beside them.
        yield noise("pixel_values", (_PATCHES_A_SIDE, channels * patch**2), {0: BATCH})
        frames = setting(config, "temporal_patch_size")
        if isinstance(frames, int):
            yield _cubes((frames, patch, patch, channels))


def sides(config: Any) -> Iterator[tuple[int, int]]:
    """Heights and widths of images, likeliest first."""
    if (asked := _ASKED.get()) is not None:
        yield asked, asked
        return
    own = setting(config, "image_size", "input_size", "max_img_size")
    for side in ([own] if own is not None else []) + [224, 64, 256, 512]:
        height, width = height_and_width(side)
        if height is not None and width is not None:
            yield height, width


def _smaller(config: Any, largest: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """A smaller image for models that take the image's size and whose configuration has only the
    largest one. In Pixtral, all of up to 110 x 110 patches attend to one another."""
    patch = _patch(config)
    if max(largest) > _MAX_PATCHES_A_SIDE * patch and _ASKED.get() is None:
        yield 2 * _PATCHES_A_SIDE * patch, 2 * _PATCHES_A_SIDE * patch


def height_and_width(side: Any) -> tuple[int | None, int | None]:
    """What a configuration says of a picture's size, which is a number, a pair or a dictionary."""
    if isinstance(side, int):
        return side, side
    if isinstance(side, dict):
        return side.get("height"), side.get("width")
    if isinstance(side, (list, tuple)) and len(side) == 2:
        return side[0], side[1]
    return None, None


def _frames(accepted: set[str], config: Any) -> int | None:
    """How many frames what a model takes for an image has; None for images."""
    frames: int | None = setting(config, "num_frames")
    if frames is None and "pixel_values_videos" not in accepted:
        # A text has places for videos, and there is no other input for them.
        return None if setting(config, "video_token_id") is None else _FRAMES
    return frames


def _whole(config: Any, found: list[tuple[int, int]], frames: int | None) -> Iterator[Example]:
    """[batch, channels, height, width], or with frames before the channels."""
    channels = setting(config, "num_channels", default=3)
    for height, width in found:
        if frames is not None:
            axes = {0: BATCH, 1: "num_frames", 3: "height", 4: "width"}
            yield noise("pixel_values", (frames, channels, height, width), axes)
        yield noise("pixel_values", (channels, height, width), _IMAGE)


def _sized(config: Any, height: int, width: int, tiles: int | None) -> Example:
    """Images, whole or in tiles, with `image_sizes`: their sizes before padding or cropping."""
    channels = setting(config, "num_channels", default=3)
    shape = (channels, height, width) if tiles is None else (tiles, channels, height, width)

    def sizes(batch: int) -> Tensors:
        return {"image_sizes": torch.tensor([[height, width]]).expand(batch, 2).contiguous()}

    plain = noise("pixel_values", shape, {0: BATCH})
    return Example(plain.make, plain.dims, plain.lengths, sizes)


def _tiles_by_ratio(config: Any, height: int, width: int) -> Example:
    """Rows of several images, here of one, each in as many tiles as one may have, with the number
    of the ratio of its sides and which tiles are filled."""
    channels = setting(config, "num_channels", default=3)
    tiles = setting(config, "max_num_tiles", default=4)

    def make(batch: int, _: int) -> Tensors:
        ones = torch.ones(batch, 1, tiles, dtype=torch.int64)
        return {
            "pixel_values": random_values((batch, 1, tiles, channels, height, width)),
            "aspect_ratio_ids": ones[..., 0].contiguous(),
            "aspect_ratio_mask": ones,
        }

    return Example(make, {name: {0: BATCH} for name in make(1, 1)})


def _several(accepted: set[str], config: Any, height: int, width: int) -> Example:
    """Rows of several images, here of one."""
    channels = setting(config, "num_channels", default=3)

    def make(batch: int, length: int) -> Tensors:
        made = {"pixel_values": random_values((batch, 1, channels, height, width))}
        if "pixel_attention_mask" in accepted:
            made["pixel_attention_mask"] = torch.ones(batch, 1, height, width, dtype=torch.int64)
        if "image_attention_mask" in accepted:
            made["image_attention_mask"] = torch.ones(batch, length, 1, dtype=torch.int64)
        return made

    dims = {name: {0: BATCH} for name in make(1, 1)}
    if "image_attention_mask" in dims:
        dims["image_attention_mask"] = {0: BATCH, 1: "sequence_length"}
    return Example(make, dims)


def _listed(config: Any, height: int, width: int) -> Example:
    """Rows of several images, here of one, with which ones there are, as Python asks it."""
    shape = (1, setting(config, "num_channels", default=3), height, width)
    plain = noise("pixel_values", shape, {0: BATCH})

    def known(batch: int) -> Tensors:
        return {"pixel_attention_mask": torch.ones(batch, 1, dtype=torch.bool)}

    return Example(plain.make, plain.dims, plain.lengths, known)


def _patch(config: Any) -> int:
    size = height_and_width(setting(config, "patch_size", "spatial_patch_size", default=14))[0]
    return size or 14


def _patches_a_side(config: Any) -> int:
    """Of an image as large as was asked for, or the configuration says, merged evenly."""
    side = _ASKED.get() or height_and_width(setting(config, "image_size"))[0]
    merged = setting(config, "spatial_merge_size", "merge_size", "downsample_factor", default=2)
    merged = merged if isinstance(merged, int) else 2
    count = side // _patch(config) if side else _PATCHES_A_SIDE
    return max(merged, count // merged * merged)


def _packed(accepted: set[str], config: Any) -> Iterator[Example]:
    """Patches of all images one after the other, flat or not, with the grid of each image."""
    grid = _first(accepted, "image_grid_thw", "grid_thw", "image_grid_hw")
    pixels = _first(accepted, "pixel_values", "hidden_states")
    if not grid or not pixels:
        return
    channels = setting(config, "in_channels", "in_chans", "num_channels", default=3)
    patch = _patch(config)
    frames = dict.fromkeys((setting(config, "temporal_patch_size", default=1), 1, 2))
    side = _patches_a_side(config)

    def of_grid(batch: int, count: int) -> Tensors:
        of_one = [count, count] if grid.endswith("_hw") else [1, count, count]
        return {grid: torch.tensor([of_one] * batch)}

    def known(batch: int) -> Tensors:
        made = of_grid(batch, side)
        merges = "image_merge_sizes" if grid.startswith("image") else "merge_sizes"
        if merges in accepted:
            made[merges] = torch.full((batch,), 2)
        return made

    shapes = [(channels * count * patch**2,) for count in frames]
    for shape in (*shapes, (channels, patch, patch)):

        def make(batch: int, _: int, shape: tuple[int, ...] = shape) -> Tensors:
            return {pixels: random_values((batch * side**2, *shape))}

        yield Example(make, {pixels: {}}, known=known)
    if isinstance(merged := setting(config, "spatial_merge_size"), int) and side % merged == 0:
        # The patches that are merged lie together, with the channels last.
        square = (merged * patch, merged * patch, channels)
        rows = (side // merged) ** 2

        def squares(batch: int, _: int) -> Tensors:
            return {pixels: random_values((batch * rows, *square))}

        yield Example(squares, {pixels: {}}, known=known)
        # Of some, the grid counts what the merged patches become.
        yield Example(squares, {pixels: {}}, known=lambda batch: of_grid(batch, side // merged))


def _cubes(shape: tuple[int, ...]) -> Example:
    """[patches of all images, frames of a patch, its height, its width, channels]."""

    def make(batch: int, _: int) -> Tensors:
        return {"pixel_values": random_values((batch * _PATCHES_OF_ANY, *shape))}

    return Example(make, {"pixel_values": {0: "num_patches"}})


def _first(accepted: set[str], *names: str) -> str:
    return next((name for name in names if name in accepted), "")


def _padded_patches(accepted: set[str], config: Any) -> Example:
    """[batch, patches, values of a patch], with the height and width of each image in patches."""
    channels, patch = setting(config, "num_channels", default=3), _patch(config)
    side = _patches_a_side(config)

    def make(batch: int, _: int) -> Tensors:
        made = {"pixel_values": random_values((batch, side**2, channels * patch**2))}
        if "pixel_attention_mask" in accepted:
            made["pixel_attention_mask"] = torch.ones(batch, side**2, dtype=torch.int64)
        return made

    def known(batch: int) -> Tensors:
        return {"spatial_shapes": torch.full((batch, 2), side)}

    return Example(make, {name: {0: BATCH} for name in make(1, 1)}, known=known)


def _patches_in_a_row(config: Any) -> Example:
    """[1, channels, patch, all patches of all images side by side], with the height and width of
    each image in patches."""
    channels, patch = setting(config, "num_channels", default=3), _patch(config)
    most = _PATCHES_A_SIDE if _ASKED.get() is None else _patches_a_side(config)
    side = max(4, min(most, _patches_a_side(config)) // 4 * 4)  # merged twice

    def make(batch: int, _: int) -> Tensors:
        return {"pixel_values": random_values((1, channels, patch, batch * side**2 * patch))}

    def known(batch: int) -> Tensors:
        return {"target_sizes": torch.full((batch, 2), side, dtype=torch.int32)}

    return Example(make, {"pixel_values": {}}, known=known)


def _placed_patches(places: str, config: Any) -> Iterator[Example]:
    """[batch, patches, values of a patch], with the column and the row of each patch, which are
    pooled by the model or before it."""
    patch = _patch(config)
    pooled = setting(config, "pooling_kernel_size", default=1)
    count = _PATCHES_A_SIDE // 2 if _ASKED.get() is None else _patches_a_side(config)
    side = pooled * max(2, count // pooled)
    for size in dict.fromkeys((patch, setting(config, "model_patch_size", default=patch))):
        yield _patches_at(places, config, size, side)


def _patches_at(places: str, config: Any, patch: int, side: int) -> Example:
    channels = setting(config, "num_channels", default=3)

    def make(batch: int, _: int) -> Tensors:
        return {"pixel_values": random_values((batch, side**2, channels * patch**2))}

    def known(batch: int) -> Tensors:
        numbers = torch.arange(side**2)
        grid = torch.stack([numbers % side, numbers // side], -1)
        return {places: grid.expand(batch, -1, -1).contiguous()}

    return Example(make, {"pixel_values": {0: BATCH}}, known=known)

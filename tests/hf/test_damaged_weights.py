"""Files of weights that are none, found by throwing damaged ones (tests/fuzz/checkpoints.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

import sardonyx
from sardonyx._model.weight_files import weights_in
from sardonyx.hf.checkpoints.checkpoint import weights_in_folder
from sardonyx.hf.checkpoints.distributed import DistributedCheckpoint


def safetensors_file(path: Path, header: str) -> Path:
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + bytes(64))
    return path


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [8, 4]},
        {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, float("inf")]},
        {"dtype": "F32", "shape": [2**62], "data_offsets": [0, 2**64]},
        {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]},
    ],
)
def test_sizes_and_places_that_do_not_fit(entry: dict[str, Any], tmp_path: Path) -> None:
    path = safetensors_file(tmp_path / "model.safetensors", json.dumps({"a": entry}))
    with pytest.raises(sardonyx.OnnxExporterError, match="is no safetensors file"):
        weights_in(path)


def test_names_that_are_no_text_and_lists_without_end(tmp_path: Path) -> None:
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    for header in (json.dumps({"\ud800": entry}), '{"a":' * 100_000):
        path = safetensors_file(tmp_path / "model.safetensors", header)
        with pytest.raises(sardonyx.OnnxExporterError, match="is no safetensors file"):
            weights_in(path)


@pytest.mark.parametrize("shard", [3, None, ["a"]])
def test_an_index_that_names_no_files(shard: Any, tmp_path: Path) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": shard}}))
    with pytest.raises(sardonyx.OnnxExporterError, match="is no index") as caught:
        weights_in_folder(tmp_path)
    assert [each.code for each in caught.value.diagnostics] == ["SX2005"]


@pytest.fixture
def distributed(tmp_path: Path) -> Path:
    from torch.distributed import checkpoint

    checkpoint.save({"a": torch.ones(2, 3)}, checkpoint_id=tmp_path, no_dist=True)
    return tmp_path


def test_a_place_in_a_pickle_that_is_far_away(distributed: Path) -> None:
    """It took 20 GB and half a minute."""
    path = distributed / ".metadata"
    path.write_bytes(path.read_bytes()[:-1] + b"r" + (1 << 31).to_bytes(4, "little") + b".")
    assert [
        each.name for each in DistributedCheckpoint(distributed).weights(["a"], distributed)
    ] == ["a"]


def test_a_piece_that_is_no_archive(distributed: Path) -> None:
    (piece,) = distributed.glob("*.distcp")
    content = piece.read_bytes()
    at = content.index(b"data.pkl") + 60
    piece.write_bytes(content[:at] + b"0" * 40 + content[at + 40 :])
    with pytest.raises(sardonyx.OnnxExporterError) as caught:
        DistributedCheckpoint(distributed).weights(["a"], distributed)
    assert [each.code for each in caught.value.diagnostics] == ["SX2005"]


def test_what_fits_is_read(tmp_path: Path) -> None:
    held = {"a": torch.ones(2, 3), "b": torch.zeros(0, dtype=torch.int64)}
    safetensors.torch.save_file(held, tmp_path / "model.safetensors")
    found = {each.name: each for each in weights_in_folder(tmp_path)}
    assert (found["a"].dims, found["a"].length, found["b"].length) == ([2, 3], 24, 0)

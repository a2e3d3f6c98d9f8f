"""Models that refer to the weights in their checkpoint's files."""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx
import pytest
import torch

import sardonyx

from .checkpoints import bert, llama


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return llama(tmp_path / "model", max_shard_size="60KB")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def locations(path: Path) -> set[str]:
    """Of the external data."""
    model = onnx.load(path, load_external_data=False)
    return {
        entry.value
        for tensor in model.graph.initializer
        for entry in tensor.external_data
        if entry.key == "location"
    }


def test_the_weights_of_all_shards_stay_where_they_are(checkpoint: Path) -> None:
    before = names(checkpoint)
    report = sardonyx.hf.export(checkpoint, weights_in_place=True, verify=True)
    assert report.verified["equal"] == report.verified["tokens"]
    assert names(checkpoint) == before | {"model.onnx", "sardonyx.html", "sardonyx.json"}
    shards = {path.name for path in checkpoint.glob("*.safetensors")}
    assert locations(checkpoint / "model.onnx") == shards
    weights = sum(path.stat().st_size for path in checkpoint.glob("*.safetensors"))
    (part,) = report.parts
    assert 0.9 * weights < part.bytes_in_place < weights
    assert "MB in the checkpoint's files" in str(report)


def test_a_checkpoint_of_another_type_is_cast_where_it_is_read(tmp_path: Path) -> None:
    folder = llama(tmp_path / "model", torch.bfloat16)
    report = sardonyx.hf.export(folder, folder, weights_in_place=True, verify=True)
    assert report.verified["equal"] == report.verified["tokens"]
    assert names(folder) >= {"model.onnx"}
    assert "model.onnx.data" not in names(folder)
    assert locations(folder / "model.onnx") == {"model.safetensors"}


def test_weights_in_blocks_are_written_and_the_others_stay(tmp_path: Path) -> None:
    folder = llama(tmp_path / "model")
    precision = sardonyx.Precision("int4", keep=["lm_head"])
    sardonyx.hf.export(folder, tmp_path / "out", precision=precision)
    report = sardonyx.hf.export(folder, weights_in_place=True, precision=precision)
    assert report.parts[0].bytes_in_place == 64 * 100 * 4
    ids = torch.randint(0, 100, (1, 5), generator=torch.Generator().manual_seed(0))
    tokens = [sardonyx.hf.load(each).generate(ids) for each in (folder, tmp_path / "out")]
    assert tokens[0].equal(tokens[1])


def test_an_export_is_replaced_and_what_no_export_wrote_is_not(checkpoint: Path) -> None:
    before = names(checkpoint)
    (checkpoint / "model.onnx").write_bytes(b"mine")
    with pytest.raises(sardonyx.UsageError, match=r"SX2008.*model\.onnx"):
        sardonyx.hf.export(checkpoint, weights_in_place=True)
    assert names(checkpoint) == before | {"model.onnx"}
    (checkpoint / "model.onnx").unlink()
    for precision in ("int4", "fp32"):
        sardonyx.hf.export(checkpoint, weights_in_place=True, precision=precision)
    assert names(checkpoint) == before | {"model.onnx", "sardonyx.html", "sardonyx.json"}
    with pytest.raises(sardonyx.UsageError, match=r"SX2008.*weights of a checkpoint"):
        sardonyx.hf.export(bert(checkpoint.parent / "bert"), checkpoint)
    assert before < names(checkpoint)


def test_what_cannot_be_referred_to_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(sardonyx.UsageError, match=r"SX2010.*have to lie there"):
        sardonyx.hf.export(checkpoint, tmp_path / "out", weights_in_place=True)
    assert not (tmp_path / "out").exists()
    cache = tmp_path / "cache"
    shutil.copytree(checkpoint, cache)
    shards = sorted(cache.glob("*.safetensors"))
    for shard in shards[:2]:
        shard.unlink()
        shard.symlink_to(checkpoint / shard.name)
    with pytest.raises(sardonyx.UsageError) as caught:
        sardonyx.hf.export(cache, weights_in_place=True)
    assert [each.code for each in caught.value.diagnostics] == ["SX2010", "SX2010"]
    assert "symbolic link" in str(caught.value)
    with pytest.raises(sardonyx.UsageError, match="SX1001"):
        sardonyx.hf.export(checkpoint)


def test_a_failure_leaves_the_checkpoint_as_it_was(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names(checkpoint)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(sardonyx.SaveError, match=r"SX1601.*No space left"):
            sardonyx.hf.export(checkpoint, weights_in_place=True)
    assert names(checkpoint) == before

"""Checkpoints of torch.distributed, whole and in pieces."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
import transformers

import sardonyx

from .checkpoints import llama
from .test_quantized import logits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As a trainer writes it: its state dict has the model next to other entries."""
    plain = llama(tmp_path / "plain")
    model = transformers.LlamaForCausalLM.from_pretrained(plain)
    made = tmp_path / "model"
    model.config.save_pretrained(made)
    state: dict[str, Any] = {"model": model.state_dict(), "step": 3}
    state["optim"] = {"exp_avg": {"model.norm.weight": torch.ones(64)}}
    state["model"]["lm_head.weight"] = state["model"]["lm_head.weight"].T.contiguous().T
    dcp.save(state, checkpoint_id=made / "step_3", no_dist=True)
    return made


def test_whole_tensors_are_read_where_they_lie(folder: Path, tmp_path: Path) -> None:
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    assert report.task == "text-generation-with-past"
    sardonyx.hf.export(tmp_path / "plain", tmp_path / "wanted")
    assert torch.equal(logits(tmp_path / "out"), logits(tmp_path / "wanted"))
    report = sardonyx.hf.export(folder, weights_in_place=True)
    assert report.parts[0].bytes_in_place > 200_000
    assert torch.equal(logits(folder), logits(tmp_path / "wanted"))


def shard(metadata: Any, name: str, folder: Path) -> None:
    """Puts a tensor into two pieces in files of their own."""
    from torch.distributed.checkpoint.filesystem import _StorageInfo
    from torch.distributed.checkpoint.metadata import ChunkStorageMetadata, MetadataIndex

    entry = metadata.state_dict_metadata[name]
    state = {name: torch.empty(entry.size)}
    dcp.load(state, checkpoint_id=folder, no_dist=True)
    entry.chunks = []
    for index in [index for index in metadata.storage_data if index.fqn == name]:
        del metadata.storage_data[index]
    for number, piece in enumerate(state[name].split([40, 24])):
        file = f"__{number + 1}_0.distcp"
        torch.save(piece.clone(), folder / file)
        offsets = torch.Size([40 * number, *[0] * (piece.dim() - 1)])
        entry.chunks.append(ChunkStorageMetadata(offsets, piece.shape))
        place = _StorageInfo(file, 0, (folder / file).stat().st_size)
        metadata.storage_data[MetadataIndex(name, offsets)] = place


def test_pieces_are_put_together_and_missing_ones_listed(folder: Path, tmp_path: Path) -> None:
    held = folder / "step_3"
    metadata = pickle.loads((held / ".metadata").read_bytes())
    shard(metadata, "model.model.layers.0.self_attn.q_proj.weight", held)
    (held / ".metadata").write_bytes(pickle.dumps(metadata))
    sardonyx.hf.export(folder, tmp_path / "out")
    sardonyx.hf.export(tmp_path / "plain", tmp_path / "wanted")
    assert torch.equal(logits(tmp_path / "out"), logits(tmp_path / "wanted"))
    (held / "__1_0.distcp").unlink()
    os.truncate(held / "__2_0.distcp", 100)
    with pytest.raises(sardonyx.ProgramError) as caught:
        sardonyx.hf.export(folder, tmp_path / "broken")
    assert [each.code for each in caught.value.diagnostics] == ["SX2005", "SX2005"]
    assert "__1_0.distcp is missing" in str(caught.value)
    assert "__2_0.distcp is cut short" in str(caught.value)


def test_metadata_run_nothing(folder: Path, tmp_path: Path) -> None:
    class Runs:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "was run"),)

    (folder / "step_3" / ".metadata").write_bytes(pickle.dumps(Runs()))
    with pytest.raises(sardonyx.ProgramError, match=r"SX2005.*mkdir, which is no part"):
        sardonyx.hf.export(folder, tmp_path / "out")
    assert not (tmp_path / "was run").exists()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data, name: vars(data.storage_data[name]).update(relative_path=3),
        lambda data, name: vars(data.storage_data[name]).update(offset="0"),
        lambda data, name: vars(data.storage_data[name]).update(length=-1),
        lambda data, name: vars(data.state_dict_metadata[name.fqn]).update(size=[2.5]),
        lambda data, name: vars(data.state_dict_metadata[name.fqn]).update(properties=None),
        lambda data, name: vars(data.state_dict_metadata[name.fqn]).update(chunks=[]),
        lambda data, name: vars(data.state_dict_metadata[name.fqn]).update(chunks=[None]),
        lambda data, name: data.storage_data.update({7: data.storage_data[name]}),
    ],
)
def test_metadata_of_other_types_are_refused(folder: Path, tmp_path: Path, spoil: Any) -> None:
    path = folder / "step_3" / ".metadata"
    metadata = pickle.loads(path.read_bytes())
    name = next(each for each in metadata.storage_data if each.fqn == "model.model.norm.weight")
    spoil(metadata, name)
    path.write_bytes(pickle.dumps(metadata))
    with pytest.raises(sardonyx.ProgramError, match="SX2005"):
        sardonyx.hf.export(folder, tmp_path / "out")

"""What is no checkpoint, or not a whole one, is refused with all that is wrong; nothing is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import safetensors.torch
import torch
from transformers import PretrainedConfig, PreTrainedModel

import sardonyx

from .checkpoints import bert, llama


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama(tmp_path_factory.mktemp("llama") / "model", max_shard_size="60KB")


def refused(folder: Path, out: Path, **options: object) -> sardonyx.OnnxExporterError:
    with pytest.raises(sardonyx.OnnxExporterError) as caught:
        sardonyx.hf.export(folder, out, **options)
    assert not list(out.parent.glob(f"*{out.name}*"))
    return caught.value


def codes(error: sardonyx.OnnxExporterError) -> list[str]:
    return [diagnostic.code for diagnostic in error.diagnostics]


def copied(checkpoint: Path, folder: Path) -> Path:
    folder.mkdir()
    for path in checkpoint.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_a_folder_without_a_configuration(tmp_path: Path) -> None:
    assert codes(refused(tmp_path, tmp_path / "out")) == ["SX2001"]


def test_a_folder_without_weights(checkpoint: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()
    (folder / "config.json").write_bytes((checkpoint / "config.json").read_bytes())
    assert codes(refused(folder, tmp_path / "out")) == ["SX2001"]
    (folder / "pytorch_model.bin").write_bytes(b"...")
    assert "pytorch_model.bin" in str(refused(folder, tmp_path / "out"))


def test_shards_that_are_missing_or_cut_short_are_all_listed(
    checkpoint: Path, tmp_path: Path
) -> None:
    folder = copied(checkpoint, tmp_path / "broken")
    shards = sorted(folder.glob("*.safetensors"))
    assert len(shards) > 2
    shards[0].unlink()
    shards[1].write_bytes(shards[1].read_bytes()[:-100])
    error = refused(folder, tmp_path / "out")
    assert codes(error) == ["SX2005", "SX2005"]
    assert f"{shards[0].name} is missing" in str(error)
    assert f"{shards[1].name} is cut short" in str(error)


def test_weights_that_do_not_fit_are_all_listed(checkpoint: Path, tmp_path: Path) -> None:
    folder = copied(checkpoint, tmp_path / "other")
    held = {}
    for shard in folder.glob("*.safetensors"):
        held |= safetensors.torch.load_file(shard)
        shard.unlink()
    (folder / "model.safetensors.index.json").unlink()
    del held["model.layers.1.self_attn.q_proj.weight"]
    held["model.norm.weight"] = torch.ones(3)
    safetensors.torch.save_file(held, folder / "model.safetensors", {"format": "pt"})
    error = refused(folder, tmp_path / "out")
    assert codes(error) == ["SX2004", "SX2004"]
    assert "no 'model.layers.1.self_attn.q_proj.weight', [64, 64]" in str(error)
    assert "'model.norm.weight' is [64] in the model" in str(error)


def test_remote_code_is_not_run_unasked(checkpoint: Path, tmp_path: Path) -> None:
    folder = copied(checkpoint, tmp_path / "remote")
    settings = json.loads((folder / "config.json").read_text())
    settings["auto_map"] = {"AutoModelForCausalLM": "modeling_mine.Mine"}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "modeling_mine.py").write_text("raise SystemExit('this was run')")
    error = refused(folder, tmp_path / "out")
    assert codes(error) == ["SX2003"]
    assert "modeling_mine.py" in str(error)


def test_weights_that_are_quantized_already(checkpoint: Path, tmp_path: Path) -> None:
    folder = copied(checkpoint, tmp_path / "quantized")
    settings = json.loads((folder / "config.json").read_text())
    settings["quantization_config"] = {"quant_method": "aqlm", "bits": 2}
    (folder / "config.json").write_text(json.dumps(settings))
    error = refused(folder, tmp_path / "out")
    assert codes(error) == ["SX2001"]
    assert "aqlm" in str(error)


def test_tasks_that_do_not_exist_or_do_not_fit(checkpoint: Path, tmp_path: Path) -> None:
    error = refused(checkpoint, tmp_path / "out", task="text-generatoin")
    assert codes(error) == ["SX2002"]
    assert "did you mean 'text-generation'?" in str(error)
    error = refused(checkpoint, tmp_path / "out", task="object-detection")
    assert codes(error) == ["SX2002"]
    assert (
        "llama offers text-generation-with-past (by default), text-generation, text-class"
        in str(error)
    )


def test_packages_that_a_checkpoint_needs(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks(*_: object, **__: object) -> None:
        raise ImportError("it requires the timm library\n\npip install timm")

    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", lacks)
    error = refused(checkpoint, tmp_path / "out")
    assert codes(error) == ["SX2006"]
    assert "requires the timm library pip install timm" in str(error)


def test_folders_that_are_not_to_be_replaced(checkpoint: Path, tmp_path: Path) -> None:
    kept = tmp_path / "mine"
    kept.mkdir()
    (kept / "thesis.txt").write_text("mine")
    for out in (kept, checkpoint, kept / "thesis.txt"):
        with pytest.raises(sardonyx.UsageError, match="SX2008"):
            sardonyx.hf.export(checkpoint, out)
    assert (kept / "thesis.txt").read_text() == "mine"


def test_a_former_export_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = bert(tmp_path / "bert"), tmp_path / "out"
    sardonyx.hf.export(folder, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("shutil.copyfile", full)
        with pytest.raises(sardonyx.SaveError, match=r"SX1601.*No space left"):
            sardonyx.hf.export(folder, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    sardonyx.hf.export(folder, out)
    assert {path.name for path in tmp_path.iterdir()} == {"bert", "out"}


class _Config(PretrainedConfig):
    model_type = "reads_what_is_not_there"
    vocab_size = 50


class _Output:
    pass


class _ReadsWhatIsNotThere(PreTrainedModel):
    config_class = _Config

    def __init__(self, config: _Config) -> None:
        super().__init__(config)
        self.embed = torch.nn.Embedding(50, 8)
        self.post_init()

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        if input_ids.dtype != torch.int64:
            raise ValueError("no tokens")
        return self.embed(input_ids) + _Output().states


def test_a_model_that_fails_by_its_own_code(tmp_path: Path) -> None:
    with pytest.raises(sardonyx.ProgramError, match="reads an attribute that isn't there") as found:
        sardonyx.hf.export(_ReadsWhatIsNotThere(_Config()), tmp_path / "out")
    assert codes(found.value) == ["SX2007"]
    assert "'_Output' object has no attribute 'states'" in str(found.value)
    assert isinstance(found.value.__cause__, AttributeError)

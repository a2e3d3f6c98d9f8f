"""What a folder holds: its configuration, whose class it is of, and where its weights lie."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sardonyx import _native
from sardonyx._base.errors import UsageError, refusal
from sardonyx._model.program_settings import QUANTIZATION, QUANTIZATION_FILE
from sardonyx._model.weight_files import WeightInFile, weights_in
from sardonyx.hf.base.packages import lacking, transformers

# What the files of weights are called.
_STEM = "model"
_INDEX = ".safetensors.index.json"
_SINGLE = ".safetensors"
# Formats of weights that are not read, and what makes them safetensors.
_OTHER_WEIGHTS = ("pytorch_model*.bin", "tf_model.h5", "flax_model.msgpack", "*.ckpt")
GGUF = ".gguf"
# All but the first of several files that belong together.
_LATER_FILE = re.compile(r".*-(?!00001)\d{5}-of-\d{5}\.gguf")


@dataclass(frozen=True)
class Checkpoint:
    """A folder with a configuration of transformers.

    Attributes:
        folder: where it is.
        config: its configuration.
        trust_remote_code: whether code in the folder may be run.
        quantization: how its weights are quantized, as config.json says; empty where they are not.
        gguf: the (first) file of its weights, where they are in that format.
        has_config: whether the folder has config.json; a GGUF file may stand for it.
        part: the module of the whole model that `config` is of; empty where it is of the whole.
    """

    folder: Path
    config: Any
    trust_remote_code: bool
    quantization: dict[str, Any] = field(default_factory=dict)
    gguf: Path | None = None
    has_config: bool = True
    part: str = ""

    @property
    def has_safetensors(self) -> bool:
        """Whether there are such files, whole or not."""
        return _has_safetensors(self.folder)

    def weights(self) -> list[WeightInFile]:
        """The tensors of its safetensors files, without their data; as weights_in_folder()."""
        found = weights_in_folder(self.folder)
        if not self.part:
            return found
        begin = f"{self.part}."
        own = [each for each in found if each.name.startswith(begin)]
        return [each._replace(name=each.name.removeprefix(begin)) for each in own]


def weights_in_folder(folder: Path, stem: str = _STEM) -> list[WeightInFile]:
    """The tensors of the safetensors files that are called by `stem`, without their data.

    SX2001 where there are none, SX2005 for every shard that is missing or cut short.
    """
    return weights_in(_file_of_weights(folder, stem))


def _has_safetensors(folder: Path, stem: str = _STEM) -> bool:
    return any((folder / f"{stem}{end}").is_file() for end in (_SINGLE, _INDEX))


def _file_of_weights(folder: Path, stem: str) -> Path:
    """The index of shards, or the only file."""
    index, single = folder / f"{stem}{_INDEX}", folder / f"{stem}{_SINGLE}"
    for path in (index, single):
        if path.is_file():
            return path
    others = sorted({path.name for kind in _OTHER_WEIGHTS for path in folder.glob(kind)})
    if others:
        raise refusal(
            "SX2001",
            f"{folder} has its weights in {', '.join(others)}, and no {single.name}",
            "load the model by transformers, and save_pretrained() it: that writes safetensors",
        )
    raise refusal(
        "SX2001",
        f"{folder} has no weights: neither {single.name} nor {index.name}",
        "copy the weights beside config.json",
    )


def _how_to_download(path: Path) -> str:
    """The help for what may be the name of a repository: "organization/model", or "gpt2"."""
    if path.is_absolute() or len(path.parts) not in (1, 2) or ".." in path.parts:
        return ""
    return (
        f"a model of the Hugging Face Hub is downloaded first: hf download {path.as_posix()} "
        f"--local-dir {path.name}; then export the folder {path.name}"
    )


def read_checkpoint(path: Path, trust_remote_code: bool = False) -> Checkpoint:
    """The configuration of a folder, or of a GGUF file. SX2001 where it has none, SX2003 for code
    that is not to be run, SX2006 for packages that it needs."""
    folder = path.parent if path.suffix == GGUF else path
    if not folder.is_dir():
        raise refusal("SX2001", f"there is no folder {folder}", _how_to_download(path), UsageError)
    gguf = _gguf_of(path)
    written = folder / "config.json"
    if not written.is_file():
        if gguf is None:
            raise refusal(
                "SX2001", f"{folder} has no config.json", "name the folder of a checkpoint"
            )
        # transformers says of a damaged file that it has no configuration.
        _native.gguf_file(str(gguf))
        config = _config_of(folder, trust_remote_code, gguf_file=gguf.name)
        return Checkpoint(folder, config, trust_remote_code, {}, gguf, has_config=False)
    settings = _settings(written)
    _check_code(folder, settings, trust_remote_code)
    config = _config_of(folder, trust_remote_code)
    of_weights: dict[str, Any] = next(
        filter(None, (settings.get(name) for name in QUANTIZATION)), {}
    )
    of_weights = of_weights or _of_modelopt(folder / QUANTIZATION_FILE)
    return Checkpoint(folder, config, trust_remote_code, {} if gguf else of_weights, gguf)


def _of_modelopt(path: Path) -> dict[str, Any]:
    """How modelopt quantized the weights, which it once wrote to a file of its own."""
    found = _settings(path).get("quantization") if path.is_file() else None
    return {"quant_method": "modelopt", **found} if isinstance(found, dict) else {}


def _config_of(folder: Path, trust_remote_code: bool, **more: str) -> Any:
    library = transformers()
    try:
        return library.AutoConfig.from_pretrained(
            folder, trust_remote_code=trust_remote_code, local_files_only=True, **more
        )
    except ImportError as error:
        raise lacking(f"the checkpoint in {folder}", error) from error
    except Exception as error:
        source = folder / more.get("gguf_file", "config.json")
        raise refusal(
            "SX2001",
            f"transformers {library.__version__} cannot read {source}: {error}",
            "put the model's config.json into its folder"
            if more
            else "does config.json name a `model_type` that this release knows?",
        ) from error


def _gguf_of(path: Path) -> Path | None:
    """The GGUF file that has the weights: that which was named, or the only one of a folder without
    safetensors. SX2001 where there are several."""
    if path.suffix == GGUF:
        if not path.is_file():
            raise refusal("SX2001", f"there is no file {path}", "", UsageError)
        return path
    if _has_safetensors(path):
        return None
    found = sorted(each for each in path.glob(f"*{GGUF}") if not _LATER_FILE.match(each.name))
    if len(found) > 1:
        raise refusal(
            "SX2001",
            f"{path} has several models: {', '.join(each.name for each in found)}",
            "name one of these files instead of the folder",
            UsageError,
        )
    return found[0] if found else None


def _settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(settings, dict):
            raise TypeError("it is no object")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise refusal("SX2001", f"{path} is no configuration: {error}") from error
    return settings


def _check_code(folder: Path, settings: dict[str, Any], trusted: bool) -> None:
    if settings.get("auto_map") and not trusted:
        code = sorted(
            {str(name).partition(".")[0] + ".py" for name in _texts(settings["auto_map"])}
        )
        raise refusal(
            "SX2003",
            f"{folder} has its model as code, {', '.join(code)}, which is not run unasked",
            "read that code, and say --trust-remote-code (trust_remote_code=True)",
            UsageError,
        )


def _texts(auto_map: Any) -> list[str]:
    values = auto_map.values() if isinstance(auto_map, dict) else [auto_map]
    texts: list[str] = []
    for value in values:
        texts += [text for text in value if text] if isinstance(value, (list, tuple)) else [value]
    return texts

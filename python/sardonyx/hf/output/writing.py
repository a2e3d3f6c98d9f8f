"""The folder of an export: complete, or not there."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sardonyx._base.errors import UsageError, refusal, unwritable

if TYPE_CHECKING:
    from sardonyx.hf.checkpoints.checkpoint import Checkpoint

# What every export writes; a folder with it may be replaced by another export.
REPORT = "sardonyx.json"
PAGE = "sardonyx.html"  # the same for people
# What lists the models of a pipeline.
PIPELINE = "model_index.json"
# What of a checkpoint belongs to the exported model: configurations, tokenizers, processors.
_COPIED = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken")
_NOT_COPIED = (".safetensors.index.json", ".bin.index.json")
# What no export writes: a folder with it is a checkpoint that an export lies beside.
_WEIGHTS = ("*.safetensors", "*.gguf", "*.bin")


@contextlib.contextmanager
def new_folder(out: Path, source: Path | None) -> Iterator[Path]:
    """A folder to write to, which becomes `out` at the end, and vanishes where that fails.

    SX2008 where `out` is something that must not be replaced, SX1601 where it cannot be written.
    """
    _check(out, source)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise unwritable(out, error) from error
    try:
        staging.chmod(0o755)
        yield staging
        _replace(staging, out)
    except OSError as error:
        raise unwritable(out, error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _check(out: Path, source: Path | None) -> None:
    advice = "name a new folder, or one that an earlier export wrote"
    if source is not None and out.resolve() == source.resolve():
        raise refusal("SX2008", f"{out} is the checkpoint itself", advice, UsageError)
    if out.exists() and not out.is_dir():
        raise refusal("SX2008", f"{out} is a file", advice, UsageError)
    if out.is_dir() and any(out.iterdir()) and not (out / REPORT).is_file():
        raise refusal("SX2008", f"{out} holds files that no export wrote", advice, UsageError)
    if any(path for pattern in _WEIGHTS for path in out.glob(pattern)):
        raise refusal("SX2008", f"{out} holds the weights of a checkpoint", advice, UsageError)


def _replace(staging: Path, out: Path) -> None:
    """What was in `out` goes only when the new folder stands in its place."""
    if not out.exists():
        staging.rename(out)
        return
    former = Path(tempfile.mkdtemp(prefix=f".{out.name}-former-", dir=out.parent))
    out.rename(former / out.name)
    try:
        staging.rename(out)
    except OSError:
        (former / out.name).rename(out)
        raise
    finally:
        shutil.rmtree(former, ignore_errors=True)


def copy_companions(source: Path, folder: Path) -> None:
    """The configurations, tokenizer and processor of a checkpoint, as they are."""
    for pattern in _COPIED:
        for path in source.glob(pattern):
            if path.is_file() and not path.name.endswith(_NOT_COPIED):
                shutil.copyfile(path, folder / path.name)


def describe(checkpoint: Checkpoint, folder: Path) -> None:
    """The configuration that a GGUF file stands for, and its tokenizer where transformers makes one
    of it."""
    import transformers

    checkpoint.config.save_pretrained(folder)
    if checkpoint.gguf is None:
        return
    # Of some architectures there is none, and some need packages; the model runs without.
    with contextlib.suppress(Exception):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            checkpoint.folder, gguf_file=checkpoint.gguf.name, local_files_only=True
        )
        tokenizer.save_pretrained(folder)

"""Models beside their checkpoint, which refer to the weights in its files and have none."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sardonyx import _native
from sardonyx._base.errors import Diagnostic, UsageError, refusal, refusals, unwritable

from .writing import PAGE, REPORT

# What an export may write beside its parts.
_BESIDE_PARTS = (REPORT, PAGE, "genai_config.json")


def locations_of(paths: Iterable[str], folder: Path) -> dict[str, str]:
    """Where files of weights are from the folder, by path.

    SX2010 for those that runtimes do not read: links, and files outside of the folder.
    """
    found: dict[str, str] = {}
    problems: list[str] = []
    for path in paths:
        if Path(path).is_symlink():
            problems.append(f"{path} is a symbolic link, which runtimes do not follow")
            continue
        try:
            found[path] = Path(path).resolve().relative_to(folder.resolve()).as_posix()
        except ValueError:
            problems.append(f"{path} is not in {folder}, or below it, where runtimes look for it")
    if problems:
        advice = "copy the checkpoint with its files (cp -rL), or leave --weights-in-place out"
        raise refusals(
            [Diagnostic("SX2010", problem, help=advice) for problem in problems], UsageError
        )
    return found


def save_in_place(model: Any, path: Path, files: Mapping[str, str]) -> int:
    """Writes a native model that refers to weights in `files`; how many bytes these are."""
    in_place = dict(files)
    stays = _native.reference_external_weights(model, in_place)
    _native.write(model, os.fspath(path), in_place=in_place)
    return stays


@contextlib.contextmanager
def beside(folder: Path, files: Mapping[str, str], opened: bool) -> Iterator[Path]:
    """A folder to write to, whose files move into `folder` at the end, and vanish where that fails.

    `files`: where the weights are from `folder`, by path; in the folder to write to they are at the
    same places where models are `opened` there. SX2008 where a file would be replaced that no
    export wrote, SX1601 where the folder cannot be written.
    """
    try:
        staging = Path(tempfile.mkdtemp(prefix=".sardonyx-", dir=folder))
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        if opened:
            _link(files, staging)
        yield staging
        for location in files.values() if opened else ():
            (staging / location).unlink()
        _move(staging, folder)
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _link(files: Mapping[str, str], staging: Path) -> None:
    for path, location in files.items():
        (staging / location).parent.mkdir(parents=True, exist_ok=True)
        os.link(path, staging / location)


def _move(staging: Path, folder: Path) -> None:
    """The report goes first and comes last: where it is, so is all that it names."""
    former = _former(folder)
    made = {path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file()}
    taken = sorted(name for name in made - former if (folder / name).exists())
    if taken:
        raise refusal(
            "SX2008",
            f"{folder} has {', '.join(taken)}, which no export wrote",
            "move what is there",
            UsageError,
        )
    for name in sorted(former - made | {REPORT}):
        (folder / name).unlink(missing_ok=True)
    for name in sorted(made, key=lambda name: name == REPORT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (staging / name).replace(folder / name)


def _former(folder: Path) -> set[str]:
    """The files that an earlier export wrote into a checkpoint's folder."""
    try:
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        parts = [str(part["file"]) for part in report["parts"]]
        parts += [str(report["draft"])] if report.get("draft") else []
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    names = {name for part in parts for name in (part, f"{part}.data")}
    return {name for name in (*names, *_BESIDE_PARTS) if (folder / name).is_file()}

"""`sardonyx serve --watch model.py:function`: exports again whenever a file was saved.

Each export runs in a child of this process, which has imported PyTorch already: it sees files as
they are now, can be ended when it is out of date, and takes nothing with it when it crashes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sardonyx._base.errors import OnnxExporterError, failure, refusal

from .page import Page

INTERVAL = 0.05  # seconds between two looks at the files


def main(words: list[str]) -> int:
    """Watches until the server ends; returns the exit code."""
    script, _, function = words[0].rpartition(":")
    page = Page(os.environ["SARDONYX_SERVE"])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that folders are removed
    try:
        if not script.endswith(".py") or not function.isidentifier():
            return _refuse(page, f"--watch is FILE.py:FUNCTION, not {words[0]}")
        if not Path(script).is_file():
            return _refuse(page, f"there is no file {script}")
        with tempfile.TemporaryDirectory(prefix="sardonyx-watch-") as scratch:
            Watcher(page, Path(script).resolve(), function, Path(scratch)).run()
    except (OSError, KeyboardInterrupt):  # the server has ended
        return 0
    return 0


class Watcher:
    """One function: its files, the export that runs, and the last two models on the page."""

    def __init__(self, page: Page, script: Path, function: str, scratch: Path) -> None:
        self._page, self._script, self._function = page, script, function
        self._scratch = scratch
        self._files: set[str] = {str(script)}
        self._shown: list[int] = []

    def run(self) -> None:
        """Raises OSError once the server has ended."""
        self._page.report({"state": "loading"})
        warm_up()
        while True:
            seen = states(self._files)
            begun = time.monotonic()
            self._page.report({"state": "exporting"})
            folder = self._scratch / "export"
            folder.mkdir()
            result = self._export(folder, seen)
            if result is not None:
                self._files |= set(result.pop("files", ()))
                seen |= states(self._files - seen.keys())
                result["seconds"] = round(time.monotonic() - begun, 3)
                self._show(result)
            shutil.rmtree(folder)
            # Some editors remove a file before they write it again.
            while states(self._files) == seen or not self._script.exists():
                time.sleep(INTERVAL)

    def _export(self, folder: Path, seen: dict[str, Any]) -> dict[str, Any] | None:
        """What the export wrote; None where a file was saved before it ended."""
        child = os.fork()
        if child == 0:
            _work(self._script, self._function, folder)
        status = 0
        try:
            while True:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    child = 0
                    break
                if states(self._files) != seen:
                    return None
                time.sleep(INTERVAL / 10)
        finally:
            if child:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        result = folder / "result.json"
        if result.exists():
            return dict(json.loads(result.read_text(encoding="utf-8")))
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return refused(f"the export ended with {how}")

    def _show(self, result: dict[str, Any]) -> None:
        if result["ok"]:
            model = Path(result.pop("model"))
            before = self._shown[-1] if self._shown else None
            result["id"] = self._page.add(
                model, before=before, settings=time.strftime("saved %H:%M:%S")
            )
            self._shown.append(result["id"])
            if len(self._shown) > 2:
                self._page.remove(self._shown.pop(0))
        self._page.report({"state": "done", **result})


def states(files: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """When each file was written last, and its size; None of one that is not there."""
    found: dict[str, tuple[int, int] | None] = {}
    for file in files:
        try:
            status = Path(file).stat()
            found[file] = (status.st_mtime_ns, status.st_size)
        except OSError:
            found[file] = None
    return found


def warm_up() -> None:
    """Imports what exports need, and fills PyTorch's caches, which children then have."""
    import torch

    from sardonyx._export.export import export

    from . import example  # noqa: F401 (for the children)

    # Threads would not be there after a fork.
    torch.set_num_threads(1)
    export(
        torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()),
        (torch.zeros(2, 2),),
        dynamic_shapes=({0: "batch"},),
    )


def refused(message: str) -> dict[str, Any]:
    """A result without a model."""
    return failure(refusal("SX1032", message))


def _refuse(page: Page, message: str) -> int:
    page.report({"state": "done", **refused(message)})
    print(f"error[SX1032]: {message}", file=sys.stderr)
    return 2


def _work(script: Path, function: str, folder: Path) -> None:
    """Of the child: writes result.json, and ends it."""
    from .example import exported, own_files

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.dont_write_bytecode = True  # a file that is saved twice in a second would be taken from it
    try:
        try:
            program = exported(script, function)
            model = folder / f"{script.stem}.onnx"
            program.save(model)
            notes = [asdict(each) for each in program.notes]
            result = {"ok": True, "model": str(model), "notes": notes}
        except OnnxExporterError as error:
            result = failure(error)
        result["files"] = own_files(script.parent)
        written = folder / "unfinished.json"
        written.write_text(json.dumps(result), encoding="utf-8")
        written.rename(folder / "result.json")
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

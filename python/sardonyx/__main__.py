"""`python -m sardonyx COMMAND ...`: the command `sardonyx`, whichever side a command is written on.

The native program hands the commands of `IN_PYTHON` over to here; the others go to it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Iterator

from sardonyx._base.collection import few_collections
from sardonyx._cli.interrupts import end_interrupted, ends_at_once
from sardonyx._cli.places import cmake_dir, native_command

# The modules whose main() takes the words that follow, and returns the exit code.
IN_PYTHON = {
    "calibrate": "sardonyx._quantize.calibrate_command",
    "doctor": "sardonyx._cli.doctor",
    "hf": "sardonyx.hf.command",
    "quantize": "sardonyx._quantize.quantize_command",
    "refresh": "sardonyx._refresh.command",
    "run": "sardonyx._cli.run",
}


def main() -> int:
    """Runs the command of that name; returns its exit code: 2 for wrong usage."""
    words = sys.argv[1:]
    if words == ["--cmake-dir"]:
        return _print_cmake_dir()
    if words and words[0] in IN_PYTHON:
        with _few_collections():
            return _run_in_python(words)
    native = native_command()
    if native is None:
        print(
            "error: the native command is not in this installation: pip install --force-reinstall "
            "sardonyx, or name it in SARDONYX_COMMAND",
            file=sys.stderr,
        )
        return 1
    return os.execv(native, [str(native), *words])


def _run_in_python(words: list[str]) -> int:
    with ends_at_once():
        command = importlib.import_module(IN_PYTHON[words[0]])
    from sardonyx._base.commands import plain_warnings

    try:
        with plain_warnings():
            return int(command.main(words[1:]))
    except KeyboardInterrupt:
        return end_interrupted()


_NEW_OBJECTS = 1_000_000  # between two collections


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Within, garbage is seldom looked for; behind it, the objects that are left are not.

    Imports and captures make many objects and little garbage. Looking for it at Python's own pace
    takes a tenth of a small export, and at the end of the process a quarter.
    """
    try:
        with few_collections(_NEW_OBJECTS):
            yield
    finally:
        gc.freeze()


def _print_cmake_dir() -> int:
    folder = cmake_dir()
    if folder is None:
        print(
            "error: this installation holds no C++ library: cmake --install makes one",
            file=sys.stderr,
        )
        return 1
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

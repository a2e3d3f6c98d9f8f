"""`python -m sardonyx COMMAND ...`: the command `sardonyx`, whichever side a command is written on.

The native program hands the commands of `IN_PYTHON` over to here; the others go to it.
"""

from __future__ import annotations

import importlib
import os
import sys

from sardonyx._command.places import cmake_dir, native_command

# The modules whose main() takes the words that follow, and returns the exit code.
IN_PYTHON = {
    "doctor": "sardonyx._command.doctor",
    "hf": "sardonyx.hf.command",
    "run": "sardonyx._command.run",
}


def main() -> int:
    """Runs the command of that name; returns its exit code: 2 for wrong usage."""
    words = sys.argv[1:]
    if words == ["--cmake-dir"]:
        return _print_cmake_dir()
    if words and words[0] in IN_PYTHON:
        return int(importlib.import_module(IN_PYTHON[words[0]]).main(words[1:]))
    command = native_command()
    if command is None:
        print(
            "error: the native command is not in this installation: pip install --force-reinstall "
            "sardonyx, or name it in SARDONYX_COMMAND",
            file=sys.stderr,
        )
        return 1
    return os.execv(command, [str(command), *words])


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

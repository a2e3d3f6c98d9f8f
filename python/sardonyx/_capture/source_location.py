"""Lines of the user's code."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

_SCRIPT_RANGE = re.compile(r'File "(?P<file>.+)", line (?P<line>\d+)')
_TRACE_LINE = re.compile(r'File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>\S+)')
_SARDONYX = str(Path(__file__).parent.parent) + os.sep
_CAPTURE = str(Path(__file__).with_name("capture.py"))
_PYTHON = sysconfig.get_paths()["stdlib"]
# A file that is none begins so.
_NO_FILE = "<"
# Python's own frozen modules, and the graphs that torch.fx writes.
_NEVER_USERS = ("<frozen ", "<eval_with_key>")


class Place(NamedTuple):
    """A line of a file, and the function that it stands in."""

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        code = linecache.getline(self.file, self.line).strip()
        inside = f", in {self.function}" if self.function else ""
        return f"{self.file}, line {self.line}{inside}" + (f": {code}" if code else "")


@functools.lru_cache(maxsize=64)
def parsed(file: str) -> ast.Module:
    """The code of a file; nothing where it is none that Python reads."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])


def user_place() -> Place | None:
    """The innermost line of the model that runs now; None where nothing of it does."""
    frame = next(frames_of_model(), None)
    if frame is None:
        return None
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def frames_of_model() -> Iterator[FrameType]:
    """What runs now of the model's own code, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if file == _CAPTURE:  # what is further out runs the export
            return
        if _is_of_model(file) or _is_typed_by_user(frame):
            yield frame
        frame = frame.f_back


@functools.cache
def _folders_of_libraries() -> tuple[str, ...]:
    """PyTorch's, this package's, and those of what computes with sizes for both."""
    import mpmath
    import numpy as np
    import sympy
    import torch

    modules = (torch, sympy, mpmath, np)
    return (*(str(Path(str(each.__file__)).parent) + os.sep for each in modules), _SARDONYX)


@functools.lru_cache(maxsize=4096)
def _is_of_model(file: str) -> bool:
    """Whether a file holds the model's own code, and is none of a library, Python or this
    package."""
    # Libraries of models are below the standard library's folder, too.
    is_python = file.startswith(_PYTHON) and "site-packages" not in file
    return not is_python and not file.startswith((*_folders_of_libraries(), _NO_FILE))


def _is_typed_by_user(frame: FrameType) -> bool:
    """Whether code that stands in no file is a user's, of a prompt, a notebook or exec(): its
    module is no library's, or Python can show its lines."""
    file = frame.f_code.co_filename
    if not file.startswith(_NO_FILE) or file.startswith(_NEVER_USERS):
        return False
    name = frame.f_globals.get("__name__")
    if name is None:
        return bool(linecache.getlines(file))
    root = name.partition(".")[0]
    return root not in ("torch", "sardonyx", "sympy") and root not in sys.stdlib_module_names


def place_of_error(error: BaseException) -> Place | None:
    """The innermost line of the model's own code that the error passed through; None for none."""
    place, trace = None, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if _is_of_model(code.co_filename) or _is_typed_by_user(trace.tb_frame):
            place = Place(code.co_filename, trace.tb_lineno, code.co_name)
        trace = trace.tb_next
    return place


def is_raised_by_model(error: BaseException) -> bool:
    """Whether a line of the model's own code raised the error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    others = (*_folders_of_libraries(), _PYTHON, _NO_FILE)
    if trace is None:
        return False
    frame = trace.tb_frame
    return not frame.f_code.co_filename.startswith(others) or _is_typed_by_user(frame)


def asking_frame(of_torch: Sequence[str], ours: Sequence[str]) -> FrameType | None:
    """The frame of the model, or of a layer of torch's, that asks what this package is to answer;
    None where an operator does. `of_torch` and `ours` are the parts of torch and of this package,
    as paths below their folders, that hand a question on."""
    import torch

    root = str(Path(torch.__file__).parent) + os.sep
    between = (*(root + part for part in of_torch), *(_SARDONYX + part for part in ours))

    def hands_on(frame: FrameType) -> bool:
        file = frame.f_code.co_filename
        return file.startswith(between) or (
            file.startswith(_NO_FILE) and not _is_typed_by_user(frame)
        )

    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_SARDONYX):
        frame = frame.f_back
    while frame is not None and hands_on(frame):
        frame = frame.f_back
    if frame is None:
        return None
    file = frame.f_code.co_filename
    is_model = file.startswith(root + "nn" + os.sep) or not file.startswith((root, _SARDONYX))
    return frame if is_model else None


def scripted_place(source_range: str) -> Place | None:
    """The first line that a range of TorchScript's text names."""
    found = _SCRIPT_RANGE.search(source_range)
    return Place(found["file"], int(found["line"])) if found else None


def place_of_trace(trace: str) -> Place | None:
    """The innermost line of a stack trace: of the model's own code, where it has such lines."""
    lines = list(_TRACE_LINE.finditer(trace))
    found = [each for each in lines if _is_of_model(each["file"])] or lines
    if not found:
        return None
    return Place(found[-1]["file"], int(found[-1]["line"]), found[-1]["function"])

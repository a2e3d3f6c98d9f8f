"""Where in the user's code a call stands, in the words of torch.export."""

from __future__ import annotations

import linecache
import sys
from types import CodeType, FrameType

from sardonyx._torch_private.sizes import files_of_torch


class StackTraces:
    """Stack traces of the lines of forward() methods that run, each formatted once."""

    def __init__(self) -> None:
        self._passed_over = files_of_torch()
        self._known: dict[tuple[tuple[CodeType, int], ...], str] = {}
        self._of_line: dict[tuple[CodeType, int], str] = {}

    def here(self, outermost: CodeType) -> str:
        """Those of the caller's caller, innermost last, up to the frame of `outermost`."""
        places: list[tuple[CodeType, int]] = []
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            code = frame.f_code
            if code is outermost:
                break
            if code.co_name == "forward" and code.co_filename not in self._passed_over:
                places.append((code, frame.f_lineno))
            frame = frame.f_back
        index = tuple(places)
        known = self._known.get(index)
        if known is None:
            lines = "".join(map(self._line, reversed(places)))
            known = self._known[index] = lines.strip()
        return known

    def _line(self, place: tuple[CodeType, int]) -> str:
        known = self._of_line.get(place)
        if known is None:
            code, number = place
            text = linecache.getline(code.co_filename, number).strip()
            known = f'  File "{code.co_filename}", line {number}, in {code.co_name}\n'
            known += f"    {text}\n" if text else ""
            self._of_line[place] = known
        return known

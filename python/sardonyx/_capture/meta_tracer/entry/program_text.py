"""The lines of a program's text that say what it computes, in names that do not matter."""

from __future__ import annotations

import re

# Arithmetic of sizes, which fake-tensor tracing has in arguments, and assertions, which it drops.
_OF_SIZES = re.compile(r"(?:= |^\s*)(?:sym|aten::sym_\w+)\W|_assert_\w+\(")
# What a call's bodies read of the graphs around them, and what a body calls it.
_READ = re.compile(r", (?:operands|additional_inputs|args)=\[([^\]]*)\]")
_BODY = re.compile(r"\s+@\w+\((.*)\)$")
_BY_DATA = re.compile(r"\b(u|zuf)\d+\b")


def lines_that_count(program: str) -> list[str]:
    """The calls that compute tensors, whose values are numbered as they come."""
    ranges, _, rest = program.partition("program of ")
    text = rest[rest.index("inputs:") :]
    scopes: list[tuple[int, dict[str, str]]] = [(0, {})]
    numbers = _Numbers()
    read: dict[int, str] = {}  # by a call's depth
    lines: list[str] = []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        while depth < scopes[-1][0]:
            scopes.pop()
        shown = line
        if body := _BODY.match(line):
            own, inner = _inputs(body[1], read[depth - 2], scopes[-1][1])
            scopes.append((depth + 2, inner))
            shown = f"{' ' * depth}@({own})"
        elif _OF_SIZES.search(line):
            continue
        else:
            found = _READ.search(line)
            read[depth] = found[1] if found else ""
            shown = line.replace(found[0], "") if found else line
        if depth > 2:
            shown = re.sub(r"  # .*", "", shown)  # which torch.export says without the module
        around = [known for _, known in scopes]
        lines.append(numbers.in_place_of_names(re.sub(r"\w+=@\w+", "@", shown), around))
    by_data: dict[str, str] = {}
    lines = [
        _BY_DATA.sub(lambda m: by_data.setdefault(m[0], f"{m[1]}_{len(by_data)}"), line)
        for line in lines
    ]
    bounds = [_BY_DATA.sub(lambda m: by_data.get(m[0], m[0]), each) for each in ranges.splitlines()]
    return sorted(bounds) + lines


class _Numbers:
    def __init__(self) -> None:
        self._last = 0

    def in_place_of_names(self, line: str, scopes: list[dict[str, str]]) -> str:
        """The line with numbers for its values; those that have some are known. What a body reads
        without saying so is a constant of a graph around it."""
        known = scopes[-1]
        for name, is_made in re.findall(r"(%\w+)(:?)", line):
            if name not in known:
                outer = None if is_made else next((s[name] for s in scopes if name in s), None)
                self._last += outer is None
                known[name] = outer or f"%{self._last}"
        return re.sub(r"%\w+", lambda found: known[found[0]], line)


def _inputs(header: str, read: str, known: dict[str, str]) -> tuple[str, dict[str, str]]:
    """A body's own inputs, and the names that it has at its beginning: what it reads of the graphs
    around it, however it is called within, is what it is there."""
    inputs = re.findall(r"%\w+: .*?(?=, %|$)", header)
    operands = [each for each in re.split(r", (?![^(]*\))", read) if each]
    own = inputs[: len(inputs) - len(operands)]
    inner: dict[str, str] = {}
    for declared, operand in zip(inputs[len(own) :], operands, strict=True):
        if operand.startswith("%"):
            inner[declared.partition(":")[0]] = known[operand]
    return ", ".join(own), inner

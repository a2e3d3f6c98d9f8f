"""Programs' texts with numbers in place of sizes, so that arithmetic in other words is the same."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

Lines = list[str]
# Numbers of some sizes; others have any.
Samples = Sequence[Mapping[str, int]]

ANY: Samples = ({}, {}, {})
RANGE = re.compile(r"(\w+): VR\[([\w-]+), (\w+)\]")
_SYMBOL = re.compile(r"\b(?:s|u_|u|zuf_|zuf|zf)\d+\b")
_ASSERTED = re.compile(r"assertion failed for expression (.*?) on node ")
_LAID_OUT = re.compile(r"\[([\d, ]*)\] strides \[([\d, ]*)\]")
_MAX_TRIED = 20_000


def samples_within(program: str) -> Samples:
    """Three of the sizes of which a program's assertions are true; none where nothing is asserted
    but bounds, or where no three are found."""
    said = dict.fromkeys(_ASSERTED.findall(program))
    asserted = {x: sorted(set(re.findall(r"\bs\d+\b", x))) for x in said if "u" not in x}
    if not any(expression.startswith("Eq(") for expression in asserted):
        return ()
    sizes = sorted({size for named in asserted.values() for size in named})
    numbers, found = random.Random(1), []
    for _ in range(_MAX_TRIED):
        drawn = {size: numbers.randint(2, 130) for size in sizes}
        if all(eval(expression, _FUNCTIONS, dict(drawn)) for expression in asserted):
            found.append(drawn)
            if len(found) == len(ANY):
                return found
    return ()


_FUNCTIONS = {
    "__builtins__": {},
    "Eq": lambda a, b: a == b,
    "Ne": lambda a, b: a != b,
    "Mod": lambda a, b: a % b,
    "PythonMod": lambda a, b: a % b,
    "Max": max,
    "Min": min,
    "And": lambda *each: all(each),
    "Or": lambda *each: any(each),
    "Not": lambda each: not each,
}


def at_samples(lines: Lines, samples: Samples) -> Lines:
    """The lines once for each sample, with numbers for what is computed of sizes."""
    return [_at(line, known, step) for step, known in enumerate(samples, 1) for line in lines]


def _at(line: str, known: Mapping[str, int], step: int) -> str:
    if RANGE.fullmatch(line):
        return line
    values = {s: known.get(s, 97 * step + 7 * _number(s)) for s in symbols_of(line)}
    code, comment, place = line.partition("  #")
    said = "".join(_evaluated(part, values) for part in _parts(code))
    return _LAID_OUT.sub(_without_rows, said) + comment + place


def _without_rows(found: re.Match[str]) -> str:
    """Without the strides of a tensor that lies in rows, whose text does not say them."""
    shape, strides = (list(map(int, filter(None, part.split(", ")))) for part in found.groups())
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != step:
            return found[0]
        step *= size
    return f"[{found[1]}]"


def _number(symbol: str) -> int:
    return int(re.sub(r"\D", "", symbol))


def _evaluated(part: str, values: dict[str, int]) -> str:
    if not symbols_of(part):
        return part
    expression = part.strip()
    try:
        value = eval(expression, {"__builtins__": {}, "min": min, "max": max}, values)
    except (SyntaxError, NameError, TypeError):
        return part
    return part.replace(expression, str(value))


def _parts(line: str) -> list[str]:
    """The expressions of a line, and what stands between them."""
    parts, part, open_ones = [], "", []
    for character in line:
        ends = character in "[]=:{}"
        if character == "(":
            called = re.search(r"[\w.]+$", part)
            ends = called is not None and called[0] not in ("min", "max")
            open_ones.append(ends)
        elif character == ")":
            ends = not open_ones or open_ones.pop()
        elif character == ",":
            ends = not open_ones or open_ones[-1]
        if ends:
            parts += [part, character]
            part = ""
        else:
            part += character
    return [*parts, part]


def symbols_of(text: str) -> list[str]:
    """The sizes that a text names."""
    return _SYMBOL.findall(text)

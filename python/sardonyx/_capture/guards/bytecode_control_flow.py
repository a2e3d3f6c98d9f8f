"""Which answer lets a program go on where the other one only raises, by Python's own instructions.

These say more than the source does: of `if a and not b: raise`, which side of each test raises.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterable, Sequence
from types import CodeType, FrameType
from typing import NamedTuple

# Instructions that are followed to a `raise`, whose message may be computed.
_MAX_FOLLOWED = 400
# Instructions that ask for the truth of what the one before them made.
_ASKING_OF_BEFORE = frozenset(
    name
    for name in dis.opmap
    if name in ("TO_BOOL", "COPY", "NOP") or (name.endswith(("_IF_TRUE", "_IF_FALSE", "_OR_POP")))
)
_ASSIGNING_TO_PARTS = ("STORE_SUBSCR", "STORE_SLICE")
# Python 3.10 has no table of handlers: a function with any counts as one that catches everywhere.
_TRIES = ("SETUP_FINALLY", "SETUP_ASYNC_WITH")


def answer_that_goes_on(frames: Sequence[FrameType], *, asked_by_call: bool) -> bool | None:
    """What a truth has to be that the first frame asks for at its present instruction, or that the
    function will give that it calls there; None where both sides go on, or where one of the frames,
    each of which was called by the next, would catch what is raised."""
    asking, *callers = frames
    if is_caught(callers):
        return None
    return _code(asking.f_code).answer(asking.f_lasti, asked_by_call)


def is_caught(frames: Iterable[FrameType]) -> bool:
    """Whether one of the frames would catch what is raised at its present instruction."""
    return any(_code(each.f_code).catches(each.f_lasti) for each in frames)


def is_assigning_to_parts(frame: FrameType) -> bool:
    """Whether `x[i] = y` runs there, which asks a tensor whether its first dimensions are 1."""
    code = _code(frame.f_code)
    place = code.places.get(frame.f_lasti)
    return place is not None and code.instructions[place].opname in _ASSIGNING_TO_PARTS


def asked_position(frame: FrameType) -> tuple[int, int] | None:
    """Line and column of what computes the truth that is asked for at the present instruction of
    `frame`; None where Python does not know it, as 3.10 does not, and where a comparison of lists
    or tuples asks for that of an element."""
    code = _code(frame.f_code)
    place = code.places.get(frame.f_lasti)
    if place is None or not _asks_of_itself(code.instructions[place]):
        return None
    while place and code.instructions[place].opname in _ASKING_OF_BEFORE:
        place -= 1
    positions = getattr(code.instructions[place], "positions", None)
    if positions is None or positions.lineno is None or positions.col_offset is None:
        return None
    return positions.lineno, positions.col_offset


def _asks_of_itself(instruction: dis.Instruction) -> bool:
    is_bool = instruction.opname == "COMPARE_OP" and instruction.argrepr.startswith("bool(")
    return is_bool or instruction.opname in _ASKING_OF_BEFORE


class _Code(NamedTuple):
    """The instructions of a function, where each offset is among them, and, by the offsets that it
    is for, where each handler begins."""

    instructions: list[dis.Instruction]
    places: dict[int, int]
    handlers: list[tuple[range, int]]
    may_catch_anywhere: bool

    def catches(self, offset: int) -> bool:
        """Whether what is raised there may be caught."""
        if self.may_catch_anywhere:
            return True
        found = next((start for offsets, start in self.handlers if offset in offsets), None)
        if found is None:
            return False
        raised_again = self._raised_again(found)
        return raised_again is None or any(map(self.catches, raised_again))

    def _raised_again(self, place: int) -> list[int] | None:
        """Where a handler raises again, or raises another error: one that leaves a `with`
        statement, ends another handler, or is a `finally`. None for one that may go on."""
        names = [each.opname for each in self.instructions[place : place + 2]]
        if names[0] != "PUSH_EXC_INFO" or names[1:] == ["WITH_EXCEPT_START"]:
            rest = self.instructions[place:]
            found = next((each.offset for each in rest if each.opname == "RERAISE"), None)
            return None if found is None else [found]
        raising: list[int] = []
        seen: set[int] = set()
        following = [place]
        while following:
            place = following.pop()
            if place in seen:
                continue
            seen.add(place)
            each = self.instructions[place]
            if each.opname in ("RERAISE", "RAISE_VARARGS"):
                raising.append(each.offset)
            elif each.opname.startswith(("POP_EXCEPT", "RETURN_", "YIELD_")):
                return None
            else:
                following += self._successors(place)
        return raising

    def _successors(self, place: int) -> list[int]:
        each = self.instructions[place]
        if each.opcode not in dis.hasjrel and each.opcode not in dis.hasjabs:
            return [place + 1]
        if each.opname.startswith("JUMP_") and "_IF_" not in each.opname:
            return [self._target(place)]
        return [self._target(place), place + 1]

    def answer(self, offset: int, asked_by_call: bool) -> bool | None:
        """See `answer_that_goes_on`."""
        while offset not in self.places:  # a call may stand behind its instruction
            offset -= 2
        place = self.places[offset]
        if asked_by_call:
            if not self.instructions[place].opname.startswith("CALL"):
                return None
            place += 1
        compared = self.instructions[place]
        is_element = not asked_by_call and compared.opname == "COMPARE_OP"
        place += is_element
        negated = False
        # Python 3.13 and newer ask before they jump.
        while self.instructions[place].opname in ("TO_BOOL", "UNARY_NOT"):
            negated ^= self.instructions[place].opname == "UNARY_NOT"
            place += 1
        sides = self._sides(place)
        if sides is None:
            return None
        raises = {truth: self._raises(side, _MAX_FOLLOWED) for truth, side in sides.items()}
        if raises[True] == raises[False]:
            return None
        goes_on = raises[False] != negated
        if is_element:
            return _of_element(compared.argval, goes_on)
        return goes_on

    def _sides(self, place: int) -> dict[bool, int] | None:
        """Where a jump leads to for either truth."""
        name = self.instructions[place].opname
        if not name.startswith("POP_JUMP_") or not name.endswith(("_IF_TRUE", "_IF_FALSE")):
            return None
        jumps_if = name.endswith("_TRUE")
        return {jumps_if: self._target(place), not jumps_if: place + 1}

    def _target(self, place: int) -> int:
        return self.places[self.instructions[place].argval]

    def _raises(self, place: int, most: int) -> bool:
        """Whether all ways from there end in a `raise` that nothing in the function catches."""
        for _ in range(most):
            each = self.instructions[place]
            if each.opname == "RAISE_VARARGS":
                return not self.catches(each.offset)
            if each.opname.startswith(("RETURN_", "YIELD_", "RERAISE")):
                return False
            if (sides := self._sides(place)) is not None:
                return all(self._raises(side, most // 2) for side in sides.values())
            if each.opname.startswith("JUMP_") and "_IF_" not in each.opname:
                place = self._target(place)
            elif each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
                return False
            else:
                place += 1
        return False


def _of_element(sign: str, goes_on: bool) -> bool | None:
    """What an element of one list has to be beside that of another, where all have to be alike for
    the program to go on; None where some have to differ."""
    return True if sign.endswith("==" if goes_on else "!=") else None


@functools.cache
def _code(code: CodeType) -> _Code:
    found = [each for each in dis.get_instructions(code) if each.opname != "CACHE"]
    places = {each.offset: place for place, each in enumerate(found)}
    entries = getattr(dis.Bytecode(code), "exception_entries", None)
    if entries is None:
        return _Code(found, places, [], any(each.opname in _TRIES for each in found))
    handlers = [(range(each.start, each.end), places[each.target]) for each in entries]
    return _Code(found, places, handlers, False)

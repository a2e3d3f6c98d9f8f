"""Damages to bytes and to JSON, drawn by a random number generator."""

from __future__ import annotations

import json
import random
from typing import Any

# Numbers and texts that readers have to expect.
ODD: tuple[Any, ...] = (
    0, -1, 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, -(2**63), 1.5, 1e300, float("inf"),
    float("nan"), None, True, "", "a", "\ud800", "\x00", "../x", "/etc/passwd", "F32", "I4", [],
    {}, [0, 4], [[]],
)  # fmt: skip


def damaged(content: bytes, rng: random.Random) -> bytes:
    """With some bytes changed, dropped, doubled, moved or made of numbers at the borders."""
    made = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(made) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(made):
            made[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del made[at : at + rng.choice((1, 4, 8, 100))]
        elif kind == 2:
            made[at:at] = made[at : at + rng.choice((1, 8, 64))]
        elif kind == 3:
            made[at : at + 8] = rng.choice((0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)).to_bytes(
                8, "little"
            )
        elif kind == 4:
            made = made[:at]
        else:
            made[at:at] = rng.randbytes(rng.choice((1, 4, 16)))
    return bytes(made)


def damaged_json(value: Any, rng: random.Random) -> Any:
    """With one of its parts changed, dropped, renamed or nested in others."""
    if not isinstance(value, (dict, list)) or not value or rng.random() < 0.15:
        if isinstance(value, int) and rng.random() < 0.5:
            return value + rng.choice((-1, 1, 4, -(2**40), 2**40))
        return rng.choice(ODD)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = rng.choice(keys)
    made: Any = dict(value) if isinstance(value, dict) else list(value)
    kind = rng.randrange(8)
    if kind == 0:
        del made[key]
    elif kind == 1 and isinstance(made, dict):
        made[str(rng.choice(ODD))] = made.pop(key)
    elif kind == 2 and isinstance(made, list):
        made.insert(key, made[key])
    else:
        made[key] = damaged_json(made[key], rng)
    return made


def text_of(value: Any, rng: random.Random) -> bytes:
    """JSON as it is written, now and then nested deeper than a reader can go."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass")
    if rng.random() < 0.01:
        return b'{"a":' * 100_000 + text
    return text

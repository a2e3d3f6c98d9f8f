"""What models on a GPU are to show, and whether the records do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .results import Record

OURS, STANDARD = "sardonyx", "sardonyx for the standard"
GRAPH, REDUCED = "sardonyx, fixed, CUDA graph", "torch.compile, reduce-overhead"
_PEERS = ("torch.onnx", "ORT's optimizer", STANDARD)
_NOT_TRANSFORMERS = frozenset({"unet"})
# Medians of the same program differ by as much.
_NOISE = 1.03
_FASTER = 1.5
_MORE_NODES = 1.05

Verdict = tuple[str, bool, str]


def _quotients(ms: dict[str, list[float]], one: str, other: str) -> list[float]:
    """How much longer the one takes than the other, by batch."""
    if one not in ms or other not in ms:
        return []
    return [a / b for a, b in zip(ms[one], ms[other], strict=True)]


def _of_times(name: str, record: Record) -> Iterator[Verdict]:
    ms = record["ms"]
    for peer in _PEERS:
        if found := _quotients(ms, OURS, peer):
            shown = " / ".join(f"{each:.2f}" for each in found)
            yield f"{name}: time of {peer}'s", max(found) <= _NOISE, shown
    found = _quotients(ms, "torch.onnx", OURS)
    if found and name.rsplit("/", maxsplit=1)[-1] not in _NOT_TRANSFORMERS:
        shown = " / ".join(f"{each:.2f}" for each in found)
        yield f"{name}: {_FASTER} times faster than torch.onnx", min(found) >= _FASTER, shown
    if found := _quotients(ms, GRAPH, REDUCED):
        shown = " / ".join(f"{each:.2f}" for each in found)
        yield f"{name}: CUDA graph, time of torch.compile's", max(found) <= _NOISE, shown


def _of_model(name: str, record: Record) -> Iterator[Verdict]:
    if "problem" in record:
        yield name, False, record["problem"]
        return
    if "ms" in record:
        yield from _of_times(name, record)
    left = {op: n for op, n in record["left"].items() if n}
    yield f"{name}: nothing on the CPU", not left, _listed(left)
    if "right" in record:
        yield f"{name}: right", record["right"], ""


def _of_decoder(name: str, record: Record) -> Iterator[Verdict]:
    ours, theirs = record.get("sardonyx", {}), record.get("model builder", {})
    for what in ("prompt", "token"):
        if what in ours and what in theirs:
            quotient = ours[what] / theirs[what]
            yield f"{name}: time of the builder's {what}", quotient <= _NOISE, f"{quotient:.2f}"
    if "nodes" in ours and "nodes" in theirs:
        is_few = ours["nodes"] <= _MORE_NODES * theirs["nodes"]
        yield f"{name}: nodes", is_few, f"{ours['nodes']} for {theirs['nodes']}"


def _of_architectures(records: dict[str, Record]) -> Iterator[Verdict]:
    for precision in ("fp32", "fp16"):
        found = {name: each[precision] for name, each in records.items() if precision in each}
        if not found:
            continue
        wrong = [name for name, each in found.items() if each["result"] in ("wrong", "failed")]
        lacking = [name for name, each in found.items() if each.get("left")]
        right = sum(each["result"] == "right" for each in found.values())
        what = f"architectures, {precision}"
        yield f"{what}: right", not wrong, f"{right} of {len(found)}; wrong: {_names(wrong)}"
        yield f"{what}: nothing on the CPU", not lacking, _names(lacking)


def _names(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _listed(counts: dict[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def verdicts(records: dict[str, Record]) -> list[Verdict]:
    found: list[Verdict] = []
    architectures = {}
    for name, record in records.items():
        kind, _, rest = name.partition("/")
        if kind == "models":
            found += _of_model(rest, record)
        elif kind == "decoder":
            found += _of_decoder(name, record)
        else:
            architectures[rest] = record
    return found + list(_of_architectures(architectures))

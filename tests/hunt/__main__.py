"""Command line of the hunt: python -m tests.hunt --minutes 10

What was tried and found is kept in a file, from which the next hunt goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import logging
import multiprocessing
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch._dynamo.config

from . import expressions, graphs, size_judge, size_programs
from .judge import Verdict, judge, shrunk, signature
from .programs import draw

_KINDS = ("programs", "graphs", "sizes", "expressions")
_MAX_SECONDS = 180
_OF_SIZES = {"sizes": size_programs.draw, "expressions": expressions.draw}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--state", type=Path, default=Path("build/hunt.json"))
    parser.add_argument("--of", choices=[*_KINDS, "all"], default="all")
    parser.add_argument("--seed", type=int, help="judge this program alone, and print it")
    parser.add_argument("--first", type=int, default=0, help="the seed that a new state begins at")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    # No program comes twice: what PyTorch remembers of calls costs a fifth of the time.
    torch._dynamo.config.fake_tensor_cache_enabled = False
    if options.seed is not None and options.of in _OF_SIZES:
        sized = _OF_SIZES[options.of](options.seed)
        print(sized.least, sized.shapes, sized.text(), size_judge.judge(sized), sep="\n")
        return 0
    if options.seed is not None:
        program = draw(options.seed)
        print(program.inputs, program.text(), judge(program), sep="\n")
        return 0
    end = time.monotonic() + options.minutes * 60
    kinds = list(_KINDS) if options.of == "all" else [options.of]
    if options.first and not options.state.exists():
        _write(options.state, _empty(options.first))
    before = _findings(_read(options.state))
    # A program that ends the process is a finding like another.
    while time.monotonic() < end:
        hunt = multiprocessing.get_context("fork").Process(
            target=_hunt, args=(options.state, kinds, end)
        )
        # The process must not collect what was made before it: a session of ONNX Runtime waits for
        # threads that it does not have.
        gc.freeze()
        hunt.start()
        gc.unfreeze()
        hunt.join()
        if (hunt.exitcode or 0) >= 0:
            break
        _keep_crash(options.state, signal.Signals(-hunt.exitcode).name)
    state = _read(options.state)
    for kind, held in state.items():
        print(f"{kind}: {held['tried']} tried, {held['runs']} comparisons, {held['counts']}")
        for finding in held["found"].values():
            print(f"--- seed {finding['seed']}: {finding['detail']}\n{finding['text']}")
    return 1 if hunt.exitcode or _findings(state) > before else 0


def _hunt(path: Path, kinds: list[str], end: float) -> None:
    state = _read(path)
    judges = {"programs": _program, "graphs": _graph, "sizes": _sized, "expressions": _expression}
    while time.monotonic() < end:
        for kind in kinds:
            _now(path).write_text(f"{kind} {state[kind]['next']}")
            judges[kind](state[kind])
        if sum(state[kind]["tried"] for kind in kinds) % 20 == 0:
            _write(path, state)
    _write(path, state)


def _now(path: Path) -> Path:
    """Where it stands what is being judged."""
    return path.with_suffix(".now")


def _keep_crash(path: Path, ended_by: str) -> None:
    kind, _, seed = _now(path).read_text().partition(" ")
    state = _read(path)
    held = state[kind]
    held["next"] = int(seed) + 1
    if kind == "programs":
        program = draw(int(seed))
        text = f"# {program.inputs}\n{program.text()}"
    else:
        text = _OF_SIZES[kind](int(seed)).text() if kind in _OF_SIZES else "a graph"
    _count(held, "crash", 0)
    _keep(held, f"{ended_by}: {text}", int(seed), f"the process ended by {ended_by}", text)
    _write(path, state)


def _findings(state: dict[str, Any]) -> int:
    return sum(len(held["found"]) for held in state.values())


def _program(state: dict[str, Any]) -> None:
    seed = state["next"]
    state["next"] += 1
    program = draw(seed)
    if not program.lines or not program.results():
        return
    how = {"quick": seed % 10 != 9, "optimize": seed % 5 != 4}
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):
        verdict = judge(program, **how)
        _count(state, verdict.kind, verdict.runs)
        state["limits"] = state.get("limits", 0) + verdict.limits
        if verdict.kind == "refused":
            _keep_refusal(state, verdict.detail, seed)
        if not verdict.is_fault:
            return
        program, verdict = shrunk(program, verdict, **how)
    inputs = "\n".join(f"# {i.name}: {i.dtype}{list(i.dims)}" for i in program.inputs)
    text = f"{inputs}\n{program.text()}"
    _keep(state, signature(program, verdict), seed, verdict.detail, text)


def _graph(state: dict[str, Any]) -> None:
    seed = state["next"]
    state["next"] += 1
    verdict, text = graphs.judged(seed)
    _count(state, verdict.kind, verdict.runs)
    if not verdict.is_fault:
        return
    _keep(state, f"{verdict.kind}: {text}", seed, verdict.detail, text)


def _sized(state: dict[str, Any]) -> None:
    seed = state["next"]
    state["next"] += 1
    try:
        with _limited(_MAX_SECONDS):
            program = size_programs.draw(seed)
    except _HangError:  # a loop that does not end in eager PyTorch either
        return
    if not program.statements or not program.results:
        return
    # PyTorch's own captures take most of the time: one program in ten has them where tracing
    # declines.
    how = {"capture": "auto" if seed % 10 == 9 else "quick"}
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):
        try:
            with _limited(_MAX_SECONDS):
                verdict = size_judge.judge(program, **how)
        except _HangError:
            _count(state, "hangs", 0)
            text = program.text()
            _keep(state, f"hangs: {text}", seed, f"more than {_MAX_SECONDS} seconds", text)
            return
        _count(state, verdict.kind, verdict.runs)
        if verdict.kind == "refused":
            _keep_refusal(state, verdict.detail, seed)
        if not size_judge.is_fault(verdict):
            return
        program, verdict = size_judge.shrunk(program, verdict, **how)
    text = f"# {program.shapes}, from {program.least}\n{program.text()}"
    _keep(state, size_judge.signature(program, verdict), seed, verdict.detail, text)


def _expression(state: dict[str, Any]) -> None:
    seed = state["next"]
    state["next"] += 1
    program = expressions.draw(seed)
    if not program.statements:
        return
    # Either capture has its own arithmetic of sizes.
    how = {"capture": "torch" if seed % 2 else "auto"}
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):
        try:
            with _limited(_MAX_SECONDS):
                verdict = size_judge.judge(program, **how)
        except _HangError:
            verdict = Verdict("hangs", f"more than {_MAX_SECONDS} seconds")
        _count(state, verdict.kind, verdict.runs)
        if verdict.kind == "refused":
            _keep_refusal(state, verdict.detail, seed)
        if not size_judge.is_fault(verdict):
            return
        if verdict.kind != "hangs":
            program, verdict = expressions.shrunk(program, verdict, **how)
    text = f"# {how['capture']}, from {program.least}\n{program.text()}"
    _keep(state, size_judge.signature(program, verdict), seed, verdict.detail, text)


class _HangError(BaseException):
    """A program takes longer than any should."""


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """Within it, _HangError is raised after so many seconds."""

    def stop(*_: Any) -> None:
        raise _HangError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def _count(state: dict[str, Any], kind: str, runs: int) -> None:
    state["tried"] += 1
    state["runs"] += runs
    state["counts"][kind] = state["counts"].get(kind, 0) + 1


def _keep(state: dict[str, Any], name: str, seed: int, detail: str, text: str) -> None:
    state["found"].setdefault(name, {"seed": seed, "detail": detail, "text": text})


def _keep_refusal(state: dict[str, Any], detail: str, seed: int) -> None:
    """Counts a reason, with the first seeds that have it."""
    reason = re.sub(r"\d+", "#", detail[:200])
    held = state.setdefault("refusals", {}).setdefault(reason, {"count": 0, "seeds": []})
    held["count"] += 1
    held["seeds"] = [*held["seeds"], seed][:20]


def _read(path: Path) -> dict[str, Any]:
    if path.exists():
        state: dict[str, Any] = _empty() | json.loads(path.read_text())
        return state
    return _empty()


def _empty(first: int = 0) -> dict[str, Any]:
    return {
        kind: {"next": first, "tried": 0, "runs": 0, "counts": {}, "found": {}} for kind in _KINDS
    }


def _write(path: Path, state: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(state, indent=1))
    beside.replace(path)


if __name__ == "__main__":
    raise SystemExit(main())

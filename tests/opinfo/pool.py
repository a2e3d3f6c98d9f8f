"""Worker processes that may crash or hang without taking the run with them."""

from __future__ import annotations

import faulthandler
import itertools
import logging
import multiprocessing
import os
import resource
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch

from tests.opinfo import judge as judging
from tests.opinfo.capture import Captured, LiveCall, capture, prepare
from tests.opinfo.catalogue import Case, Selection, Unit, cases
from tests.opinfo.exporter import Exporter
from tests.opinfo.store import Shard

# Captured before any is converted, so that a crash of the exporter does not lose the captures.
_CHUNK = 100
# torch.export never frees some of its caches; a fresh worker is cheap.
_LARGEST_WORKER_KB = 3_000_000


@dataclass
class Job:
    """What every worker needs to know."""

    selection: Selection
    exporter: Exporter | None  # None: only capture
    folder: Path
    seconds: float = 60.0  # for one case


def captured_cases(
    unit: Unit, job: Job, done: set[str], announce: Callable[[str, str], None]
) -> Iterator[list[tuple[Case, Captured]]]:
    """The unit's cases in chunks, from the cache where it has them."""
    shard = Shard(job.folder, unit)
    wanted = (pair for pair in cases(unit, job.selection) if pair[0].key not in done)
    while chunk := list(itertools.islice(wanted, _CHUNK)):
        ready = []
        for case, sample in chunk:
            captured = shard.get(case.capture_key)
            if captured is None:
                announce(case.key, "capture")
                captured = capture(case, sample)
                announce("", "")
                shard.put(case.capture_key, captured)
            elif captured.status == "captured":
                captured.live = LiveCall(*prepare(case, sample), case.dynamic)
            ready.append((case, captured))
        shard.save()
        yield ready


def _work(link: Connection, job: Job) -> None:
    try:
        _serve(link, job)
    except Exception:
        link.send(("fault", traceback.format_exc()))  # of this harness, not of the exporter


def _serve(link: Connection, job: Job) -> None:
    quiet()
    faulthandler.disable()  # a crash is an outcome, not news

    def announce(key: str, phase: str) -> None:
        link.send(("start", key, phase))

    while True:
        message = link.recv()
        if message is None:
            return
        unit, done = message
        for chunk in captured_cases(unit, job, done, announce):
            following = [captured for _, captured in chunk[1:]] + [None]
            for (case, captured), coming in zip(chunk, following, strict=True):
                if job.exporter is None:
                    outcome = judging.Outcome(case.key, captured.status, reason=captured.reason)
                else:
                    announce(case.key, "judge")
                    outcome = judging.judge(case, captured, job.exporter)
                if coming is not captured:  # the same at the next opset: loading it takes longest
                    captured.program = None
                link.send(("done", outcome.record()))
        full = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _LARGEST_WORKER_KB
        link.send(("finished", full))
        if full:
            return


def quiet() -> None:
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)


@dataclass
class _Worker:
    process: Any
    link: Connection
    unit: Unit | None = None
    done: set[str] = field(default_factory=set)
    current: tuple[str, str] = ("", "")
    since: float = 0.0


class Pool:
    """Hands units to workers and yields the records of their cases as they come."""

    def __init__(self, job: Job, jobs: int) -> None:
        self._job = job
        self._jobs = jobs
        # Forked: importing torch and its operator database takes six seconds.
        self._context = multiprocessing.get_context("fork")
        self._workers: list[_Worker] = []
        self._again: list[tuple[Unit, set[str]]] = []

    def run(self, units: list[Unit], done: set[str]) -> Iterator[dict[str, Any]]:
        todo = [(unit, done) for unit in reversed(units)]
        self._again = todo
        try:
            while self._feed():
                yield from self._step()
        finally:
            for worker in self._workers:
                worker.process.kill()
                worker.process.join()

    def _feed(self) -> bool:
        """Gives idle workers something to do; False when nothing is left."""
        while len(self._workers) < min(self._jobs, len(self._again) + len(self._workers)):
            self._workers.append(self._start())
        for worker in self._workers:
            if worker.unit is None and self._again:
                worker.unit, worker.done = self._again.pop()
                worker.done = set(worker.done)
                worker.current, worker.since = ("", ""), time.monotonic()
                worker.link.send((worker.unit, worker.done))
        return any(worker.unit for worker in self._workers)

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._job), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _step(self) -> Iterator[dict[str, Any]]:
        busy = {w.link: w for w in self._workers if w.unit is not None}
        ready = wait(list(busy), timeout=1.0)
        for link in ready:
            worker = busy[link]  # type: ignore[index]
            try:
                message = worker.link.recv()
            except (EOFError, ConnectionResetError):
                yield from self._bury(worker, judging.CRASH)
                continue
            if message[0] == "start":
                worker.current, worker.since = (message[1], message[2]), time.monotonic()
            elif message[0] == "done":
                worker.done.add(message[1]["key"])
                worker.current, worker.since = ("", ""), time.monotonic()
                yield message[1]
            elif message[0] == "fault":
                raise RuntimeError(message[1])
            else:
                worker.unit = None
                if message[1]:
                    self._remove(worker)
        for worker in list(self._workers):
            late = time.monotonic() - worker.since > self._job.seconds
            if worker.unit is not None and worker.current[0] and late:
                yield from self._bury(worker, judging.TIMEOUT)

    def _bury(self, worker: _Worker, outcome: str) -> Iterator[dict[str, Any]]:
        """Records what the worker died of and queues the rest of its unit."""
        unit, (key, phase) = worker.unit, worker.current
        self._remove(worker)
        assert unit is not None
        code = worker.process.exitcode
        if not key:  # died between cases: nothing to blame, so the unit is not tried again
            yield judging.Outcome(f"{unit.op}|{unit.dtype}|?|?|?", outcome, str(code)).record()
            return
        if phase == "capture":
            reason = f"torch.export: {outcome}"
            shard = Shard(self._job.folder, unit)
            shard.put("|".join(key.split("|")[2:5]), Captured("uncapturable", reason))
            shard.save()
            yield judging.Outcome(key, judging.UNCAPTURABLE, reason=reason).record()
        else:
            yield judging.Outcome(key, outcome, str(code), f"worker ended with {code}").record()
        self._again.append((unit, worker.done | {key}))

    def _remove(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        worker.link.close()


def default_jobs() -> int:
    return min(2, os.cpu_count() or 1)

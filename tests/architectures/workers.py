"""Runs one function per name in forked processes, a few at a time, each with a time limit.

Limits are of CPU time, so that the outcome of a name does not depend on what else the machine does.
A process that only waits is ended after several times as long.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass

# How much longer than its CPU time a process may take.
_WAITS = 12


@dataclass
class _Running:
    name: str
    began: float


def run_each(
    names: Iterable[str],
    work: Callable[[str], None],
    failed: Callable[[str, str], None],
    jobs: int,
    limit: float,
) -> None:
    """`work` leaves its result in a file. `failed` is called with each name whose process did not
    finish, and with its time limit, the signal that ended it, or the exception."""
    waiting = list(reversed(list(names)))
    total, done = len(waiting), 0
    running: dict[int, _Running] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop()
            running[_fork(name, work, limit)] = _Running(name, time.monotonic())
        time.sleep(0.02)
        for pid, child in list(running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            taken = time.monotonic() - child.began
            if not ended and taken < _WAITS * limit:
                continue
            if not ended:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                failed(child.name, f"took longer than {limit:.0f} s")
            elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
                failed(child.name, f"took longer than {limit:.0f} s")
            elif status != 0:
                failed(child.name, _reason(status))
            del running[pid]
            done += 1
            print(f"[{done}/{total}] {child.name} {taken:.1f} s", file=sys.stderr, flush=True)


def _reason(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _fork(name: str, work: Callable[[str], None], limit: float) -> int:
    pid = os.fork()
    if pid:
        return pid
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
    code = 0
    try:
        work(name)
    except BaseException:
        traceback.print_exc()
        code = 1
    os._exit(code)

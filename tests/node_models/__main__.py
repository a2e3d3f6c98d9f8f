"""python -m tests.node_models [--names REGEX] [--opsets 13,28] [--runtimes standard] [--jobs 2]

Optimizes every node model of the installed onnx package, at its own opset and for every opset from
13 to 28, and compares the answers: in ONNX Runtime where it runs the model, and in onnx's reference
evaluator otherwise. What is written is checked by onnx.checker in full. Exits with 1 for a fault,
and for a refusal of a cause that tests/node_models/refusals.py lacks. --table prints the counts
by opset.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from tests.node_models.cases import Case, load_cases
from tests.node_models.outcomes import Outcome, judged
from tests.node_models.refusals import is_expected

OPSETS: list[int | None] = [None, *range(13, 29)]


def work(end: Connection, cases: list[Case], runtimes: list[str], opsets: list[int | None]) -> None:
    for case in cases:
        end.send(judged(case, runtimes, opsets))
    end.send(None)


class Worker:
    """A process of its own, which a crash ends: it goes on with the case after."""

    def __init__(self, cases: list[Case], arguments: tuple[Any, ...]) -> None:
        self.cases, self.arguments = cases, arguments
        self.done = 0
        self.start()

    def start(self) -> None:
        self.end, theirs = multiprocessing.Pipe(duplex=False)
        left = self.cases[self.done :]
        self.process = multiprocessing.Process(target=work, args=(theirs, left, *self.arguments))
        self.process.start()
        theirs.close()

    def receive(self) -> list[Outcome] | None:
        """Of the next case; None where all are done."""
        try:
            received: list[Outcome] | None = self.end.recv()
        except EOFError:
            self.process.join()
            case = self.cases[self.done]
            detail = f"exit code {self.process.exitcode}"
            received = [Outcome(case.name, "", None, "crash", detail)]
            self.done += 1
            self.start()
            return received
        self.done += 1
        return received


def outcomes(
    cases: list[Case], runtimes: list[str], opsets: list[int | None], jobs: int
) -> Iterator[Outcome]:
    workers = [Worker(cases[i::jobs], (runtimes, opsets)) for i in range(jobs) if cases[i::jobs]]
    while workers:
        ready = wait([worker.end for worker in workers])
        for worker in [each for each in workers if each.end in ready]:
            received = worker.receive()
            if received is None:
                worker.process.join()
                workers.remove(worker)
            else:
                yield from received


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.node_models")
    parser.add_argument("--names", default="", help="regular expression of models")
    parser.add_argument("--opsets", help="numbers with commas between; 0: the model's own")
    parser.add_argument("--runtimes", default="onnxruntime,standard")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--refused", action="store_true", help="print what is refused, too")
    parser.add_argument("--table", action="store_true", help="print the counts by opset")
    options = parser.parse_args(arguments)
    opsets = [int(n) or None for n in options.opsets.split(",")] if options.opsets else OPSETS
    cases = [c for c in load_cases() if re.search(options.names, c.name)][:: options.every]
    counts: Counter[str] = Counter()
    by_opset: Counter[tuple[int, str]] = Counter()
    faults = 0
    for outcome in outcomes(cases, options.runtimes.split(","), opsets, options.jobs):
        counts[outcome.kind] += 1
        by_opset[outcome.opset or 0, outcome.kind] += 1
        is_fault = outcome.is_fault or (
            outcome.kind == "refused" and not is_expected(outcome.detail)
        )
        faults += is_fault
        if is_fault or (options.refused and outcome.kind != "right"):
            first = " / ".join(outcome.detail.strip().splitlines()[:3])
            where = f"{outcome.runtime} {outcome.opset or 'own'}"
            print(f"{outcome.kind:10} {outcome.case} [{where}] {first[:300]}", flush=True)
    print(f"{len(cases)} models:", ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    if options.table:
        print_table(by_opset)
    return 1 if faults else 0


def print_table(counts: Counter[tuple[int, str]]) -> None:
    """Markdown: a row for each opset."""
    kinds = sorted({kind for _, kind in counts})
    print("| opset | " + " | ".join(kinds) + " |")
    print("|---|" + "---|" * len(kinds))
    for opset in sorted({opset for opset, _ in counts}):
        numbers = (str(counts[opset, kind]) for kind in kinds)
        print(f"| {opset or 'own'} | " + " | ".join(numbers) + " |")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

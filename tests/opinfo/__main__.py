"""Command line of the operator sweep."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tests.opinfo import report, store
from tests.opinfo.catalogue import DTYPES, Selection, units
from tests.opinfo.exporter import EXPORTERS, load
from tests.opinfo.judge import CRASH, TIMEOUT, WRONG
from tests.opinfo.pool import Job, Pool, default_jobs, quiet


def main() -> int:
    options = _arguments()
    quiet()
    exporter = None if options.exporter == "none" else load(options.exporter)
    selection = Selection(
        ops=options.ops,
        dtypes=tuple(options.dtypes.split(",")) if options.dtypes else tuple(DTYPES),
        limit=options.limit,
        everything=options.all,
        tenth=options.tenth,
        modes=tuple(options.modes.split(",")),
        variants=tuple(options.variants.split(",")),
        opsets=tuple(int(n) for n in options.opsets.split(",") if n),
    )
    identity = exporter.identity() if exporter else "capture-only"
    results = store.Results(options.cache, identity)
    seen = {k for k in results.known if selection.takes(k)}
    if not options.no_run:
        job = Job(selection, exporter, options.cache, options.seconds)
        seen = _run(Pool(job, options.jobs), selection, results, seen if options.resume else set())
    chosen = [results.known[k] for k in seen]
    print(report.summary(chosen, options.show))
    print(f"results: {results.path}")
    if options.known:
        right = report.known_right(results.known.values())
        options.known.write_text(json.dumps(right, indent=0) + "\n")
    if options.report:
        options.report.write_text(report.markdown(results.known.values(), identity))
    bad = sum(r["outcome"] in (WRONG, CRASH, TIMEOUT) for r in chosen)
    return 1 if bad else 0


def _run(pool: Pool, selection: Selection, results: store.Results, done: set[str]) -> set[str]:
    chosen = units(selection)
    started = shown = time.monotonic()
    seen: set[str] = set()
    for record in pool.run(chosen, done):
        results.add(record)
        seen.add(record["key"])
        if time.monotonic() - shown > 2:
            shown = time.monotonic()
            results.flush()
            rate = len(seen) / (shown - started)
            where = record["key"].split("|")
            sys.stderr.write(f"\r{len(seen)} samples, {rate:.0f}/s, at {where[0]} {where[1]}\033[K")
            sys.stderr.flush()
    results.flush()
    elapsed = max(1e-9, time.monotonic() - started)
    sys.stderr.write(
        f"\r{len(seen)} samples in {elapsed:.0f} s, {len(seen) / elapsed:.0f}/s\033[K\n"
    )
    return seen | done


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.opinfo", description=__doc__)
    add = parser.add_argument
    add("--ops", default="", help="only operators whose name matches this regular expression")
    add("--dtypes", default="", help=f"some of {','.join(DTYPES)}")
    add("--modes", default="static,dynamic")
    add("--variants", default="function,method,inplace")
    add(
        "--limit",
        type=int,
        default=8,
        help="samples per operator in float32 and int64; the other dtypes get a third of it",
    )
    add("--all", action="store_true", help="every sample of every dtype, reference inputs too")
    add("--tenth", type=int, help="only a fixed tenth of the cases, 0 to 9")
    add("--opsets", default="", help="also these opsets, on the first sample of each operator")
    add("--jobs", type=int, default=default_jobs())
    add("--seconds", type=float, default=60.0, help="time one case may take")
    add("--resume", action="store_true", help="keep what is known of this build")
    add("--no-run", action="store_true", help="only summarize what is known of this build")
    add(
        "--exporter",
        default="sardonyx",
        choices=(*EXPORTERS, "none"),
        help="none: only capture, to fill the cache",
    )
    add("--cache", type=Path, default=store.default_folder())
    add("--report", type=Path, help="write the table of operators here")
    add("--known", type=Path, help="write the list of operators that are right throughout here")
    add("--show", type=int, default=25, help="lines of each ranking")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

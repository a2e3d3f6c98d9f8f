"""See the package's description."""

from __future__ import annotations

import argparse
import os
import zlib
from pathlib import Path

from .store import Store, default_cache
from .summary import summarize
from .workers import run_each


def main() -> None:
    options = _options()
    options.cache.mkdir(parents=True, exist_ok=True)
    store = Store(options.cache)
    chosen = set(options.models.split(",")) if options.models else None
    if options.step in ("capture", "all"):
        _capture(store, chosen, options)
    if options.step in ("compare", "all"):
        _compare(store, chosen, options)
    print(summarize(store))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.architectures", description=__doc__)
    parser.add_argument("step", choices=("capture", "compare", "all", "summary"))
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--models", help="architectures, separated by commas; all by default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=180, help="seconds for one architecture")
    parser.add_argument("--again", action="store_true", help="also those already done")
    parser.add_argument("--failed", action="store_true", help="again those that were not right")
    build = Path(os.environ.get("SARDONYX_BUILD", "build"))
    parser.add_argument("--command", type=Path, default=build / "bin" / "sardonyx")
    parser.add_argument("--live", action="store_true", help="the Python package, not the command")
    return parser.parse_args()


def _capture(store: Store, chosen: set[str] | None, options: argparse.Namespace) -> None:
    # Forked children inherit what is imported here.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    import transformers

    from .capturing import capture_architecture
    from .tiny import architectures

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    names = [n for n in architectures() if chosen is None or n in chosen]
    # In no order of theirs, so that what is done so far is a fair sample at any time.
    names.sort(key=lambda name: zlib.crc32(name.encode()))
    if not options.again:
        names = [n for n in names if store.recorded("capture", n) is None]
    run_each(
        names,
        lambda name: capture_architecture(name, store),
        lambda name, why: store.record("capture", name, status="gave up", reasons=[why]),
        options.jobs,
        options.limit,
    )


def _compare(store: Store, chosen: set[str] | None, options: argparse.Namespace) -> None:
    import torch

    from .comparing import Converter, compare_architecture

    torch.set_num_threads(1)
    converter = Converter(None if options.live else options.command, options.limit)
    names = [r["name"] for r in store.all_recorded("capture") if r["status"] == "captured"]
    names = [n for n in names if chosen is None or n in chosen]
    if not options.again:
        done = {r["name"]: r["status"] for r in store.all_recorded("compare")}
        kept = ("right", "excused") if options.failed else tuple(set(done.values()))
        names = [n for n in names if done.get(n) not in kept]
    run_each(
        names,
        lambda name: compare_architecture(name, store, converter),
        lambda name, why: store.record("compare", name, status="gave up", reason=why),
        options.jobs,
        options.limit,
    )


if __name__ == "__main__":
    main()

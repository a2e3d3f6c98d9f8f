"""See the package's description."""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import zlib
from pathlib import Path

from tests.architectures.workers import run_each

from .comparison import Subject, compared, difference
from .subjects import GROUPS, Maker, quiet


def main() -> None:
    options = _options()
    quiet()
    for group in options.groups or GROUPS:
        folder = options.cache / group
        folder.mkdir(parents=True, exist_ok=True)
        makers = _chosen(dict(GROUPS[group]()), options)
        names = list(makers)
        if options.resume:
            makers = {name: makers[name] for name in names if not _is_done(folder, name)}
        # Small programs share a process, since a process takes longer than one of them.
        size = 1 if group in ("zoo", "architectures") else 40
        left = list(makers)
        parts = {str(i): left[i : i + size] for i in range(0, len(left), size)}

        def work(part: str, folder=folder, makers=makers, parts=parts) -> None:
            for name in parts[part]:
                _compare(makers[name], folder / _file_name(name), name, options)

        def failed(part: str, why: str, folder=folder, parts=parts) -> None:
            for name in parts[part]:
                path = folder / f"{_file_name(name)}.json"
                if not path.exists():
                    _record(folder / _file_name(name), name, "gave up", why)

        run_each(parts, work, failed, options.jobs, options.limit)
        _summarize(group, folder, names)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.capture", description=__doc__)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; all by default")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    parser.add_argument("--cache", type=Path, default=Path(base) / "sardonyx" / "capture")
    parser.add_argument("--names", help="separated by commas; all by default")
    parser.add_argument("--every", type=int, default=1, help="one of so many")
    parser.add_argument("--most", type=int, default=10**9, help="so many of a group")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=900, help="seconds for one process")
    parser.add_argument("--resume", action="store_true", help="only what came to no end before")
    parser.add_argument("--again", action="store_true", help="torch.export's programs, too")
    parser.add_argument("--usual", action="store_true", help="torch.export's programs alone")
    parser.add_argument(
        "--quick-only", action="store_true", help="what fake-tensor tracing declines"
    )
    return parser.parse_args()


def _chosen(makers: dict[str, Maker], options: argparse.Namespace) -> dict[str, Maker]:
    wanted = set(options.names.split(",")) if options.names else None
    names = [name for name in makers if wanted is None or name in wanted]
    # In no order of theirs, so that a part of them is a fair sample.
    names.sort(key=lambda name: zlib.crc32(name.encode()))
    return {name: makers[name] for name in names[:: options.every][: options.most]}


def _is_done(folder: Path, name: str) -> bool:
    path = folder / f"{_file_name(name)}.json"
    return path.exists() and json.loads(path.read_text())["outcome"] != "gave up"


def _file_name(name: str) -> str:
    return re.sub(r"\W+", "_", name)


def _compare(make: Maker, path: Path, name: str, options: argparse.Namespace) -> None:
    path.with_suffix(".json").unlink(missing_ok=True)  # so that a time limit is reported
    try:
        subject = make()
    except Exception as error:
        _record(path, name, "no subject", _headline(error))
        return
    if options.usual:
        _usual(subject, path, options.again)
        return
    try:
        quick = subject.quickly()
    except Exception as error:
        _record(path, name, "declined", _headline(error))
        return
    if options.quick_only:
        _record(path, name, "taken", "")
        return
    usual, refusal = _usual(subject, path, options.again)
    if not refusal and difference(usual, quick) and not options.again:
        # What was kept may be of another subject that had this name.
        usual, refusal = _usual(make(), path, again=True)
    if refusal:
        _record(path, name, "taken where torch.export is not", refusal)
        return
    path.with_suffix(".quick").write_text(quick)
    _record(path, name, *compared(usual, quick))


def _usual(subject: Subject, path: Path, again: bool) -> tuple[str, str]:
    kept = path.with_suffix(".torch")
    if kept.exists() and not again:
        return kept.read_text(), ""
    try:
        usual = subject.by_torch()
    except Exception as error:
        return "", _headline(error)
    kept.write_text(usual)
    return usual, ""


def _record(path: Path, name: str, outcome: str, reason: str) -> None:
    facts = {"name": name, "outcome": outcome, "reason": reason}
    path.with_name(f"{path.name}.json").write_text(json.dumps(facts))


def _summarize(group: str, folder: Path, names: list[str]) -> None:
    files = [folder / f"{_file_name(name)}.json" for name in names]
    found = [json.loads(file.read_text()) for file in files if file.exists()]
    counts = collections.Counter(each["outcome"] for each in found)
    print(f"## {group}: {len(found)}, {dict(counts.most_common())}")
    tried = len(found) - counts["no subject"]
    taken = tried - counts["declined"] - counts["gave up"]
    print(f"taken: {taken} of {tried}, {100 * taken / max(tried, 1):.0f} %")
    for outcome in counts:
        if outcome == "equal":
            continue
        reasons = collections.defaultdict(list)
        for each in found:
            if each["outcome"] == outcome:
                reasons[re.sub(r"\d+", "#", each["reason"])].append(each["name"])
        for reason, those in sorted(reasons.items(), key=lambda item: -len(item[1])):
            print(f"{outcome} {len(those)}: {reason}  [{', '.join(those[:4])}]")


def _headline(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:300] if lines else ''}"


if __name__ == "__main__":
    main()

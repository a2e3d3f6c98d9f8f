"""`python -m tools.compat`: environments of other releases, and what runs in them.

python -m tools.compat list
python -m tools.compat run [NAME...] [--keep] [--wheels FOLDER]
python -m tools.compat run NAME --in-place PYTHON [--overlay FOLDER]
python -m tools.compat generate [--check]
"""

from __future__ import annotations

import argparse
import datetime as dt
import shutil
import sys
from pathlib import Path

from . import generate, installing, record
from .checks import ROOT, Outcome, Place, timed
from .environments import ENVIRONMENTS, Environment, named

CACHE = ROOT / ".cache" / "compat"


def run(environment: Environment, options: argparse.Namespace) -> record.Row:
    """Makes one environment, runs its checks and, where it is not to be kept, removes it."""
    folder = Path(options.cache).resolve() / environment.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    today = dt.datetime.now(dt.timezone.utc).date().isoformat()
    row = record.Row(environment.name, today, "", {"python": environment.python})
    try:
        wheel = _wheel(environment, options)
        row.commit = installing.wheel_commit(wheel)
        place = _installed(environment, wheel, folder, options)
        row.versions = installing.versions(place.python, place.variables.items())
        for name in environment.checks:
            if options.checks and name not in options.checks.split(","):
                continue
            row.checks[name] = outcome = timed(name, place)
            print(f"{environment.name}: {name} {_told(outcome)}", flush=True)
    except installing.InstallError as error:
        row.checks["install"] = Outcome(failed=1, failures=[str(error)])
        print(f"{environment.name}: {error}", file=sys.stderr, flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return row


def _wheel(environment: Environment, options: argparse.Namespace) -> Path:
    wheels = Path(options.wheels or Path(options.cache) / "wheels").resolve()
    wheels.mkdir(parents=True, exist_ok=True)
    return installing.wheel_for(environment.python, wheels)


def _installed(
    environment: Environment, wheel: Path, folder: Path, options: argparse.Namespace
) -> Place:
    if options.in_place is None:
        return installing.install(environment, wheel, folder)
    python = Path(options.in_place).absolute()
    overlay = options.overlay and Path(options.overlay).absolute()
    return installing.install_beside(environment, python, wheel, folder, overlay)


def _told(outcome: Outcome) -> str:
    text = f"{outcome.passed} passed, {outcome.failed} failed in {outcome.seconds} s"
    return "\n  ".join([text, *outcome.failures[:20]])


def run_all(options: argparse.Namespace) -> int:
    """Runs the named environments one after the other; each row is saved as soon as it is there."""
    failed = 0
    for environment in named(options.names):
        row = run(environment, options)
        failed += not row.passed
        if "install" in row.checks:  # nothing ran, so there is nothing to say of these releases
            continue
        data = Path(options.data)
        record.save(record.with_row(record.load(data), row), data)
    return 1 if failed else 0


def write(options: argparse.Namespace) -> int:
    """Writes what is made from the data file, or says what of it is stale."""
    stale = 0
    for path, text in generate.outputs(record.load(Path(options.data))).items():
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if options.check:
            print(f"{path}: stale; python -m tools.compat generate", file=sys.stderr)
            stale = 1
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{path}: written")
    return stale


def show(_: argparse.Namespace) -> int:
    """Lists the environments."""
    for each in ENVIRONMENTS:
        print(f"{each.name:20} Python {each.python}  {' '.join(each.requirements)}")
    return 0


def parser() -> argparse.ArgumentParser:
    """Of the command's options."""
    made = argparse.ArgumentParser(prog="python -m tools.compat", description=__doc__)
    made.add_argument("--data", default=record.DATA, help="the data file")
    commands = made.add_subparsers(dest="command", required=True)
    commands.add_parser("list").set_defaults(run=show)
    runs = commands.add_parser("run")
    runs.add_argument("names", nargs="*", help="environments, by default all")
    runs.add_argument("--cache", default=CACHE, help="where environments are made")
    runs.add_argument("--wheels", help="the folder of the wheels; what is missing is built")
    runs.add_argument("--in-place", metavar="PYTHON", help="of an environment that exists")
    runs.add_argument(
        "--overlay", metavar="FOLDER", help="packages found before those of --in-place"
    )
    runs.add_argument("--checks", help="some of an environment's checks: doctor,llama")
    runs.add_argument("--keep", action="store_true", help="leave the environments there")
    runs.set_defaults(run=run_all)
    generated = commands.add_parser("generate")
    generated.add_argument("--check", action="store_true", help="complain of what is stale")
    generated.set_defaults(run=write)
    return made


def main() -> int:
    """Runs the command."""
    options = parser().parse_args()
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(main())

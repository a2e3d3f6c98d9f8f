"""Makes an environment, with the package as users install it: from a wheel."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from .checks import ROOT, Place
from .environments import Environment

# Whose versions are written down, where they are installed.
RECORDED = (
    "torch", "transformers", "onnxruntime", "onnx", "onnx-ir", "onnxscript", "numpy", "sardonyx",
)  # fmt: skip
# Next to a wheel: a text file with the commit that it was built from.
COMMIT_SUFFIX = ".commit"
# From this release on one wheel is for all (pyproject.toml: wheel.py-api).
STABLE_ABI = (3, 12)
_VERSIONS = """
import json, platform, sys
from importlib import metadata
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


class InstallError(Exception):
    """An environment that cannot be made; the message is the last that pip printed."""


def find_python(release: str) -> Path | None:
    """An interpreter of a release, "3.12": this one, one on the path, or one of pyenv."""
    if sys.version.startswith(release + "."):
        return Path(sys.executable)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [
        shutil.which(f"python{release}"),
        *sorted(pyenv.glob(f"{release}.*/bin/python{release}"), reverse=True),
    ]
    for each in candidates:
        # A shim of pyenv is there for releases that are not active, too, and fails.
        if each is not None and _runs(each):
            return Path(each)
    return None


def _runs(python: str | Path) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def fits(wheel: str, release: str) -> bool:
    """Whether the wheel of that file name is for a release of Python."""
    numbers = tuple(map(int, release.split(".")))
    if match := re.search(r"-cp3(\d+)-abi3-", wheel):
        return numbers >= (3, int(match[1]))
    return f"-cp{numbers[0]}{numbers[1]}-" in wheel


def wheel_for(release: str, folder: Path) -> Path:
    """The wheel in `folder` for a release of Python, built where there is none. Its commit is
    written next to it."""
    found = [each for each in sorted(folder.glob("*.whl")) if fits(each.name, release)]
    if found:
        return found[-1]
    oldest = ".".join(map(str, STABLE_ABI))
    stable = tuple(map(int, release.split("."))) > STABLE_ABI and find_python(oldest)
    python = stable or find_python(release)
    if python is None:
        raise InstallError(f"there is no Python {release}")
    build = folder / f"build-{oldest if stable else release}"
    tools = build / "tools" / "bin"
    if not (tools / "pip").exists():
        _run(python, "-m", "venv", tools.parent)
        _run(tools / "pip", "install", "-q", "nanobind", "scikit-build-core", "cmake", "ninja")
    commit = _checkout_commit()
    # The metadata accept the releases of Python that passed; whether this one does is the question.
    # With the compiler's name and flags of `make build`, its objects are taken from the cache.
    _run(
        tools / "pip", "wheel", "-q", ROOT, "--no-build-isolation", "--no-deps", "-w", folder,
        "--ignore-requires-python", f"--config-settings=build-dir={build / 'cmake'}",
        "--config-settings=cmake.define.SARDONYX_WERROR=ON", path=tools,
    )  # fmt: skip
    wheel = next(each for each in sorted(folder.glob("*.whl")) if fits(each.name, release))
    _commit_file(wheel).write_text(commit + "\n", encoding="utf-8")
    return wheel


def wheel_commit(wheel: Path) -> str:
    """The commit that the wheel was built from; with "-dirty" where the checkout had changes."""
    path = _commit_file(wheel)
    if not path.is_file():
        raise InstallError(f"the commit of {wheel.name} is unknown: there is no {path}")
    return path.read_text(encoding="utf-8").strip()


def _commit_file(wheel: Path) -> Path:
    return wheel.with_name(wheel.name + COMMIT_SUFFIX)


def _checkout_commit() -> str:
    ended = subprocess.run(
        ["git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude=*"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return ended.stdout.strip()


def install(environment: Environment, wheel: Path, folder: Path) -> Place:
    """A new virtual environment in `folder`, with the wheel and the environment's packages."""
    python = find_python(environment.python)
    if python is None:
        raise InstallError(f"there is no Python {environment.python}")
    venv = folder / "venv"
    _run(python, "-m", "venv", "--without-pip", venv)
    own = venv / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", own)
    _run(*pip, "install", "-q", "--no-deps", "--ignore-requires-python", wheel)
    _run(*pip, "install", "-q", *environment.requirements)
    return Place(own, venv, {"SARDONYX_BUILD": str(venv)}, folder)


def install_beside(
    environment: Environment, python: Path, wheel: Path, folder: Path, overlay: Path | None = None
) -> Place:
    """The wheel in a folder of its own, for an environment that exists and stays as it is. The
    packages in the folder `overlay` are found before those of the environment."""
    overlays = [str(overlay)] if overlay else []
    found = versions(python, {"PYTHONPATH": os.pathsep.join(overlays)}.items())
    wrong = [
        f"{name} {found.get(name)}, not {version}"
        for name, version in {**environment.packages, "python": environment.python}.items()
        if version and not found.get(name, "").startswith(version)
    ]
    if wrong:
        raise InstallError(f"{python} does not have what {environment.name} says: {wrong}")
    site = folder / "site"
    _run(python, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel)
    variables = {
        "PYTHONPATH": os.pathsep.join([str(site), *overlays]),
        "SARDONYX_BUILD": str(site),
        "SARDONYX_PYTHON": str(python),
    }
    return Place(python, site, variables, folder)


def versions(python: Path, variables: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """What is installed of RECORDED, and the release of Python."""
    ended = subprocess.run(
        [python, "-c", _VERSIONS, *RECORDED], env=os.environ | dict(variables),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, str] = json.loads(ended.stdout)
    return found


def _run(*words: str | Path, path: Path | None = None) -> None:
    environment = dict(os.environ)
    for name in ("PYTHONPATH", "SARDONYX_BUILD", "PYTHONHOME"):
        environment.pop(name, None)
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
        environment.setdefault("CXX", "c++")
    ended = subprocess.run(
        list(map(str, words)), env=environment, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        lines = (ended.stderr.strip() or ended.stdout.strip()).splitlines()
        raise InstallError(lines[-1] if lines else f"{words} ended with {ended.returncode}")

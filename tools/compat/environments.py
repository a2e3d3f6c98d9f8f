"""The environments that `make compat` makes: a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# Checks of every environment that has torch and transformers.
WHOLE = ("doctor", "tests", "llama", "whisper")
# Checks of environments without torch: files are converted, optimized and run.
FILES = ("doctor", "files")
# What tests need besides; installed without bounds of ours.
TEST_PACKAGES = ("pytest", "pytest-xdist", "expecttest", "hypothesis", "jsonschema", "safetensors")


@dataclass(frozen=True)
class Environment:
    """One environment.

    Attributes:
        name: what it is called on the command line and in the page.
        python: the release of Python.
        packages: the version of each package; "" is the newest that pip finds.
        checks: names of `checks.CHECKS`, in order.
    """

    name: str
    packages: Mapping[str, str] = field(default_factory=dict)
    python: str = "3.11"
    checks: tuple[str, ...] = WHOLE

    @property
    def requirements(self) -> list[str]:
        """As pip takes them; those that tests need included."""
        wanted = [f"{name}=={v}" if v else name for name, v in self.packages.items()]
        return wanted + (list(TEST_PACKAGES) if "tests" in self.checks else [])


def _whole(name: str, torch: str, transformers: str, onnxruntime: str, onnx: str) -> Environment:
    packages = {
        "torch": torch, "transformers": transformers, "onnxruntime": onnxruntime, "onnx": onnx,
        "onnx-ir": "", "onnxscript": "", "numpy": "",
    }  # fmt: skip
    return Environment(name, packages)


def _light(name: str, python: str, onnxruntime: str = "", onnx: str = "") -> Environment:
    packages = {"onnxruntime": onnxruntime, "onnx": onnx, "numpy": ""}
    return Environment(name, packages, python, FILES)


ENVIRONMENTS: tuple[Environment, ...] = (
    Environment("bare", {"numpy": ""}, checks=("bare",)),
    _light("python-3.10", "3.10"),
    _light("python-3.11", "3.11"),
    _light("python-3.12", "3.12"),
    _light("python-3.13", "3.13"),
    _light("python-3.14", "3.14"),
    _light("oldest-runtime", "3.11", "1.26.0", "1.18.0"),
    _whole("torch-2.9", "2.9.1", "5.23.0", "1.31.1", "1.23.2"),
    _whole("torch-2.13", "2.13.0", "5.23.0", "1.31.1", "1.23.2"),
    _whole("transformers-5.2", "2.13.0", "5.2.0", "1.32.0", "1.23.2"),
    _whole("onnxruntime-1.26", "2.13.0", "5.23.0", "1.26.0", "1.18.0"),
    _whole("torch-2.13-newest", "2.13.0", "", "", ""),
    _whole("torch-2.14", "2.14.1", "", "", ""),
    _whole("torch-2.15", "2.15.0", "5.24.0", "1.32.0", "1.23.2"),
    _whole("newest", "", "", "", ""),
)


def named(names: list[str]) -> list[Environment]:
    """Those of these names, all where there are none. KeyError for an unknown name."""
    by_name = {each.name: each for each in ENVIRONMENTS}
    return [by_name[name] for name in names] if names else list(ENVIRONMENTS)

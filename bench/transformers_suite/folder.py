"""transformers' tests as modules that can be imported, from a checkout of its repository.

The checkout may be of another release than the one installed. Its own `testing_utils` is loaded for
its tests, and what else they import and don't find (packages for downloads, functions that moved)
is a stand-in: tests of exporters use none of it.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any
from unittest import mock

_TRIES = 20
_PIPELINE_TESTS = "tests.test_pipeline_mixin"
EXPORT_TESTS = "tests.exporters.test_export"


class StandIn(types.ModuleType):
    """A package that is not installed. Whatever is imported of it does nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = importlib.machinery.ModuleSpec(name, None)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return mock.MagicMock(name=f"{self.__name__}.{name}")


def open_checkout(checkout: Path) -> types.ModuleType:
    """The module of the tests of exporters; FileNotFoundError for a folder without it."""
    if not (checkout / "tests/exporters/test_export.py").exists():
        raise FileNotFoundError(f"{checkout} has no tests/exporters/test_export.py")
    # Both repositories have a package of this name, and theirs is imported from now on.
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    sys.path.insert(0, str(checkout))
    # Tests of pipelines import a second transformers from the checkout.
    pipelines: Any = StandIn(_PIPELINE_TESTS)
    pipelines.PipelineTesterMixin = type("PipelineTesterMixin", (), {})
    sys.modules[_PIPELINE_TESTS] = pipelines
    own = checkout / "src/transformers/testing_utils.py"
    if own.exists():
        _load("transformers.testing_utils", own)
    return import_leniently(EXPORT_TESTS)


def import_leniently(name: str) -> types.ModuleType:
    """Imports a module of tests, with stand-ins for what it imports and what is not there."""
    for _ in range(_TRIES):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not error.name or error.name.partition(".")[0] in ("tests", "torch"):
                raise
            sys.modules[error.name] = StandIn(error.name)
        except ImportError as error:
            missing = _missing_attribute(str(error))
            module = sys.modules.get(error.name or "")
            if not missing or module is None:
                raise
            setattr(module, missing, mock.MagicMock(name=missing))
    raise ImportError(f"{name} imports more than {_TRIES} things that are not there")


def model_tests(checkout: Path, models: set[str]) -> list[str]:
    """The modules of the tests of models, by name; of all folders where `models` is empty."""
    files = sorted((checkout / "tests/models").glob("*/test_modeling_*.py"))
    chosen = [file for file in files if not models or file.parent.name in models]
    return [".".join(file.relative_to(checkout).with_suffix("").parts) for file in chosen]


def _missing_attribute(message: str) -> str:
    """X of "cannot import name 'X' from ..."."""
    head, _, rest = message.partition("cannot import name '")
    return rest.partition("'")[0] if not head else ""


def _load(name: str, path: Path) -> None:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)

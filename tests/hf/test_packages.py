"""Packages that do not fit each other are named with the releases that do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import transformers

import sardonyx
from sardonyx._transformers_private import features


def _refused(tmp_path: Path) -> str:
    with pytest.raises(sardonyx.UsageError, match="SX2006") as caught:
        sardonyx.hf.export(tmp_path, tmp_path / "out")
    return str(caught.value)


def test_a_transformers_that_takes_no_such_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As imported now: other tests may have imported it anew.
    monkeypatch.setattr("transformers.is_torch_available", lambda: False)
    said = _refused(tmp_path)
    assert f"transformers {transformers.__version__} does not fit" in said
    assert "it does not take PyTorch 2." in said
    assert "wants torch>=" in said
    assert "tokenizers" in said


@pytest.mark.parametrize("error", [ImportError("tokenizers>=9 is required"), TypeError("no enum")])
def test_a_transformers_that_cannot_be_imported(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Finder:
        def find_spec(self, name: str, *_: Any) -> None:
            if name == "transformers":
                raise error

    monkeypatch.delitem(sys.modules, "transformers")
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    said = _refused(tmp_path)
    assert str(error) in said
    assert "wants torch>=" in said


def test_a_transformers_without_what_every_export_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(features.CACHES.__dict__, "reason", "this transformers has no caches")
    assert "too old or too new: this transformers has no caches" in _refused(tmp_path)

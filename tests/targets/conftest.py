"""Tests of rows whose fault the installed release is without are to fail."""

from __future__ import annotations

import os
from pathlib import Path

import onnxruntime
import pytest

from sardonyx import _native

HERE = Path(__file__).parent


def release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("SARDONYX_TARGETS_AS_THEY_ARE"):  # tools/try_targets.py looks for itself
        return
    installed = release(onnxruntime.__version__)
    fixed = {
        "test_" + row["name"].replace("-", "_"): row["until"]
        for target in _native.target_tables()
        if target["name"].startswith("onnxruntime")
        for row in target["rules"]
        if row["until"] is not None and release(row["until"]) <= installed
    }
    for item in items:
        until = fixed.get(getattr(item, "originalname", item.name))
        if until is not None and HERE in item.path.parents:
            reason = f"ONNX Runtime {until} is without this fault"
            item.add_marker(pytest.mark.xfail(strict=True, reason=reason))

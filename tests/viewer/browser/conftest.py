"""Pages of models, and a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.harness.command import run_command
from tests.viewer.models import transformer

from .driving import ARGUMENTS, CHROMIUM


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: `make browser-tests` does it"
    )
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """model.html, both.html (with a changed one), times.html."""
    folder = tmp_path_factory.mktemp("pages")
    model = transformer(200)
    onnx.save(model, folder / "model.onnx")
    write(folder, "model")
    del model.graph.node[1].attribute[:]
    for node in model.graph.node:
        if node.name.endswith("layers.3/attention/Softmax"):
            node.attribute[0].i = 1
        if node.name.endswith("layers.5/mlp/Gelu"):
            node.op_type = "Relu"
    onnx.save(model, folder / "changed.onnx")
    words = ("diff", folder / "model.onnx", folder / "changed.onnx", "--html", folder / "both.html")
    assert run_command(*words).returncode == 0
    return folder


def write(folder: Path, name: str, *words: str | Path) -> Path:
    page = folder / f"{name}.html"
    done = run_command("inspect", folder / f"{name}.onnx", "--html", page, *words)
    assert done.returncode == 0, done.stderr
    return page

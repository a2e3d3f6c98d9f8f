"""How fast the viewer is: the first picture, and pictures in a second while panning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.viewer.models import transformer

from .conftest import write
from .driving import Viewer

PAN = """async () => {
  const view = viewer.active, start = performance.now();
  let frames = 0;
  while (performance.now() - start < 1500) {
    view.camera.pan(frames % 20 < 10 ? -8 : 8, -9);
    await new Promise(requestAnimationFrame);
    ++frames;
  }
  return 1000 * frames / (performance.now() - start);
}"""


def _ready(shown: Viewer) -> float:
    """The seconds from the address to the first picture."""
    seconds = shown.page.evaluate("viewer.readyAfter") / 1e3
    shown.page.goto("about:blank")
    return float(seconds)


@pytest.mark.parametrize("flat", [False, True], ids=["modules", "flat"])
@pytest.mark.parametrize(("nodes", "seconds"), [(5000, 1.0), (20000, 4.0)])
def test_speed(browser: Any, tmp_path: Path, nodes: int, seconds: float, *, flat: bool) -> None:
    onnx.save(transformer(nodes, flat=flat), tmp_path / "model.onnx")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    path = write(tmp_path, "model")
    # The best of three: other processes may run here.
    ready = min(_ready(Viewer(page, path)) for _ in range(3))
    shown = Viewer(page, path)
    figures = {"first picture": ready, "panning": page.evaluate(PAN)}
    page.evaluate("viewer.active.expandAll(true)")
    page.wait_for_timeout(300)
    figures["panning, all expanded"] = page.evaluate(PAN)
    page.evaluate("viewer.active.overview()")
    page.wait_for_timeout(500)
    figures["panning, everything in sight"] = page.evaluate(PAN)
    print(nodes, "flat" if flat else "in modules", figures)
    assert ready < seconds
    assert min(figures["panning"], figures["panning, all expanded"]) >= 30
    assert figures["panning, everything in sight"] >= 10
    shown.check()

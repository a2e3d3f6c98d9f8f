"""What people do with the viewer, wide and narrow."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.viewer.models import transformer, with_a_function

from .conftest import write
from .driving import Viewer

WIDE, NARROW = (1280, 800), (500, 800)


@pytest.fixture(params=[WIDE, NARROW], ids=["wide", "narrow"])
def viewer(browser: Any, pages: Path, request: pytest.FixtureRequest) -> Iterator[Viewer]:
    width, height = request.param
    page = browser.new_page(viewport={"width": width, "height": height})
    shown = Viewer(page, pages / "model.html")
    yield shown
    shown.check()
    page.close()


def test_a_picture_is_there_and_fits(viewer: Viewer) -> None:
    assert viewer.colors() > 5
    assert viewer.heading == "model.onnx"
    inner, outer = viewer.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert inner <= outer


def test_search_and_follow_edges(viewer: Viewer) -> None:
    viewer.search("op:softmax layers.3")
    assert viewer.page.locator("#count").inner_text() == "1 found"
    viewer.page.keyboard.press("Enter")
    viewer.wait_for_heading("Softmax")
    assert viewer.expanded("layers.3.attention")
    # By a button to the reader, and back by the keyboard.
    viewer.panel.get_by_role("button", name="read by MatMul").first.click()
    viewer.wait_for_heading("MatMul")
    viewer.page.locator("canvas.graph").focus()
    viewer.page.keyboard.press("ArrowUp")
    viewer.wait_for_heading("Softmax")
    assert viewer.page.url.endswith("#node/%2Flayers.3%2Fattention%2FSoftmax")


@pytest.mark.parametrize(
    ("query", "least"),
    [("layers.2.attention", 12), ("shape:batch,", 100), ("line:model.py", 200), ("q.weight", 10)],
)
def test_search_by_other_things(viewer: Viewer, query: str, least: int) -> None:
    viewer.search(query)
    found = int(viewer.page.locator("#count").inner_text().split()[0].replace(",", ""))
    assert found >= least


def test_expand_and_collapse(viewer: Viewer) -> None:
    viewer.page.evaluate("viewer.active.expandAll(false)")
    assert not viewer.expanded("layers.0")
    viewer.page.mouse.dblclick(*viewer.at(viewer.group("layers.0")))
    assert viewer.expanded("layers.0")
    viewer.page.evaluate(f"viewer.active.select({viewer.group('layers.0')})")
    viewer.wait_for_heading("layers.0")
    viewer.panel.get_by_role("button", name="Collapse").click()
    assert not viewer.expanded("layers.0")


def test_zoom_and_pan(viewer: Viewer) -> None:
    x, y = viewer.at(viewer.group("layers.0"))
    before = viewer.page.evaluate("viewer.active.camera.scale")
    viewer.page.mouse.move(x, y)
    viewer.page.mouse.wheel(0, -300)
    viewer.page.wait_for_timeout(100)
    assert viewer.page.evaluate("viewer.active.camera.scale") > before
    near = viewer.at(viewer.group("layers.0"))
    assert abs(near[0] - x) < 150
    viewer.page.mouse.down()
    viewer.page.mouse.move(x - 40, y - 30, steps=4)
    viewer.page.mouse.up()
    assert viewer.at(viewer.group("layers.0"))[0] < near[0]
    viewer.page.locator("canvas.graph").focus()
    viewer.page.keyboard.press("0")
    viewer.page.keyboard.press("+")


def test_paths(viewer: Viewer) -> None:
    viewer.search("op:gather")
    viewer.page.keyboard.press("Enter")
    viewer.panel.get_by_role("button", name="Path to").click()
    viewer.page.locator("#search").fill("layers.1/norm1")
    viewer.page.wait_for_timeout(150)
    viewer.page.locator("#results li", has_text="LayerNormalization").first.click()
    viewer.panel.get_by_text("Paths: ").wait_for()
    # All 22 nodes of the first layer lie between them.
    assert "24 nodes on them" in viewer.panel.inner_text()
    viewer.page.keyboard.press("Escape")


def test_statistics_of_a_weight(viewer: Viewer) -> None:
    viewer.search("layers.0.attention.q.weight")
    viewer.page.locator("#results li", has_text="weight").last.click()
    viewer.wait_for_heading("layers.0.attention.q.weight")
    assert viewer.panel.get_by_role("img", name="Histogram").count() == 1
    assert "standard deviation" in viewer.panel.inner_text()


@pytest.mark.parametrize("what", ["png", "png-whole", "svg"])
def test_pictures(viewer: Viewer, what: str, tmp_path: Path) -> None:
    with viewer.page.expect_download() as started:
        viewer.page.locator("#pictures").select_option(what)
    path = tmp_path / started.value.suggested_filename
    started.value.save_as(path)
    if what == "svg":
        texts = {text.text for text in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")}
        assert {"layers.0", "tokens"} <= texts
    else:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 5000


def test_a_link_leads_to_a_node(browser: Any, pages: Path) -> None:
    page = browser.new_page()
    shown = Viewer(page, pages / "model.html", "#node/%2Flayers.7%2Fmlp%2FGelu")
    assert shown.heading == "Gelu"
    page.goto((pages / "model.html").as_uri() + "#layers.2")
    shown.wait_for_heading("layers.2")
    assert shown.expanded("layers.2")
    shown.check()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_two_models(browser: Any, pages: Path, size: tuple[int, int]) -> None:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    shown = Viewer(page, pages / "both.html")
    assert page.locator("canvas.graph").count() == 2
    text = shown.panel.inner_text()
    assert "Changed: 2 nodes" in text
    shown.panel.get_by_role("button", name="Gelu").first.click()
    shown.wait_for_heading("Gelu")
    assert "operator: Gelu → Relu" in shown.panel.inner_text()
    assert (
        page.evaluate("viewer.views[1].model.nodes[viewer.views[1].selection.index].op") == "Relu"
    )
    shown.panel.get_by_role("button", name="Show in the other model").click()
    shown.wait_for_heading("Relu")
    shown.check()


def test_touch(browser: Any, pages: Path) -> None:
    context = browser.new_context(has_touch=True, viewport={"width": 500, "height": 800})
    shown = Viewer(context.new_page(), pages / "model.html")
    shown.page.touchscreen.tap(*shown.at(shown.group("layers.0")))
    shown.wait_for_heading("layers.0")
    shown.check()


def test_times_are_colors(browser: Any, pages: Path) -> None:
    times = pages / "times.json"
    times.write_text(
        json.dumps({"title": "time", "unit": "ms", "nodes": {"/embed/Gather": 2.5}}),
        encoding="utf-8",
    )
    page = browser.new_page()
    shown = Viewer(page, write(pages, "model", "--measures", times), "#node/%2Fembed%2FGather")
    page.get_by_label("Color by").select_option(label="time")
    assert "2.5 ms" in page.locator("#legend").inner_text()
    assert "time: 2.5 ms" in shown.panel.inner_text()
    shown.check()


def test_measures_are_a_chart_by_node(browser: Any, pages: Path) -> None:
    measures = pages / "errors.json"
    document = {
        "title": "error of quantization", "unit": "%", "nodes": {"/embed/Gather": 2.5},
        "notes": {"/embed/Gather": "weight error 0.5%", "/head/MatMul": "stays in float: <b>why"},
    }  # fmt: skip
    measures.write_text(json.dumps(document), encoding="utf-8")
    page = browser.new_page()
    shown = Viewer(page, write(pages, "model", "--measures", measures, "--cost"))
    chart = shown.panel.inner_text()
    for text in ("error of quantization, by node", "2.5 %", "weight error 0.5%", "<b>why"):
        assert text in chart
    assert "multiply-adds" in chart
    shown.panel.get_by_role("button", name="Gather /embed/Gather", exact=True).click()
    shown.wait_for_heading("Gather")
    assert "weight error 0.5%" in shown.panel.inner_text()
    shown.check()


def test_functions_and_bodies(browser: Any, tmp_path: Path) -> None:
    onnx.save(with_a_function(), tmp_path / "model.onnx")
    page = browser.new_page()
    shown = Viewer(page, write(tmp_path, "model"), "#node/call")
    shown.panel.get_by_role("button", name="Open the function").click()
    shown.wait_for_heading("mine::Twice")
    shown.search("op:if")
    page.keyboard.press("Enter")
    shown.wait_for_heading("If")
    page.locator("canvas.graph").focus()
    page.keyboard.press("Enter")
    shown.search("op:neg")
    page.keyboard.press("Enter")
    shown.wait_for_heading("Neg")
    assert "else_branch" in shown.panel.inner_text()
    shown.check()


def test_hostile_texts_stay_text(browser: Any, tmp_path: Path) -> None:
    hostile = '"><img src=x onerror=alert(1)></script><script>alert(2)</script>\u2028]]>&amp;\x01'
    model = transformer(20)
    for node in model.graph.node:
        node.name += hostile
        node.domain = hostile if node.op_type == "Gelu" else ""
        node.attribute.append(onnx.helper.make_attribute("a" + hostile, hostile))
        node.metadata_props[0].value = f'File "{hostile}", line 1, in x\n{hostile}'
    for value in (*model.graph.input, model.graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_param = hostile
    onnx.save(model, tmp_path / "hostile.onnx")
    page = browser.new_page()
    shown = Viewer(page, write(tmp_path, "hostile"))
    shown.search("op:gelu")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert "onerror" in shown.panel.inner_text()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    with page.expect_download() as started:
        page.locator("#pictures").select_option("svg")
    started.value.save_as(tmp_path / "hostile.svg")
    ET.parse(tmp_path / "hostile.svg")
    shown.check()


# --- for everybody

CONTRAST = """() => {
  const style = getComputedStyle(document.documentElement);
  const light = name => {
    const hex = style.getPropertyValue(name).trim().replace('#', '');
    const full = hex.length === 3 ? [...hex].map(each => each + each).join('') : hex;
    const part = i => { const c = parseInt(full.slice(2 * i, 2 * i + 2), 16) / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(0) + 0.7152 * part(1) + 0.0722 * part(2);
  };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05); };
  const fills = Array.from({length: 9}, (_, i) => `--fill-${i}`);
  return Math.min(...['--back', '--bar', '--box', '--only', '--same', '--changed', '--cold',
    ...fills].map(fill => ratio('--text', fill)),
    ratio('--faint', '--back'), ratio('--faint', '--bar'));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser: Any, pages: Path, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    Viewer(page, pages / "model.html").check()
    assert page.evaluate(CONTRAST) >= 4.5


def test_everything_has_a_name_and_is_reached_by_keys(browser: Any, pages: Path) -> None:
    page = browser.new_page()
    shown = Viewer(page, pages / "model.html", "#node/%2Fembed%2FGather")
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select, canvas[tabindex]')].filter("
        "each => !(each.ariaLabel || each.textContent.trim() || each.labels?.length))"
        ".map(each => each.outerHTML)"
    )
    assert nameless == []
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"search", "coloring", "pictures", "graph"} <= reached
    page.locator("canvas.graph").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    assert "Gather" in page.locator("#announcement").inner_text()
    shown.check()

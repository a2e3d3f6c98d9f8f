"""The page of `sardonyx serve` in a browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.serve.server import Server, serving

SIZES = {"wide": (1280, 800), "narrow": (500, 900)}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path, "--max-upload", "5") as running:
        yield running


@pytest.fixture(params=SIZES.values(), ids=SIZES)
def page(browser: Any, server: Server, request: pytest.FixtureRequest) -> Iterator[Any]:
    width, height = request.param
    opened = browser.new_page(viewport={"width": width, "height": height})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", lambda each: server.address in each.url or errors.append(each.url))
    opened.goto(server.address)
    opened.wait_for_selector("html[data-ready]", state="attached")
    yield opened
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert [each for each in errors if not each.startswith(("data:", "blob:"))] == []
    opened.close()


def viewer(page: Any) -> Any:
    """The frame of the viewer, once it has drawn."""
    frame = page.frame_locator("#viewer")
    frame.locator("html[data-ready]").wait_for(state="attached", timeout=20_000)
    return frame


def test_optimize_and_download(page: Any, pages: Path, tmp_path: Path) -> None:
    page.set_input_files("#files", pages / "model.onnx")
    assert viewer(page).locator("#title").inner_text() == "model.onnx"
    page.select_option("#precision", "int8")
    page.click("#go")
    page.wait_for_selector("#status >> text=nodes")
    both = page.frame_locator("#viewer").locator("#title", has_text="model-optimized.onnx")
    both.wait_for()
    assert both.inner_text().startswith("model.onnx ↔ ")
    page.click("#views >> text=model-optimized.onnx")
    with page.expect_download() as download:
        page.click("#downloads >> text=Download")
    saved = tmp_path / "saved.onnx"
    download.value.save_as(saved)
    assert download.value.suggested_filename == "model-optimized.onnx"
    onnx.checker.check_model(saved)


def test_convert_by_keyboard(page: Any, pages: Path) -> None:
    program = Path(__file__).parents[2] / "fuzz" / "corpus" / "pt2" / "small"
    file = {"name": "small.pt2", "mimeType": "", "buffer": program.read_bytes()}
    page.set_input_files("#files", file)
    page.wait_for_selector("#go >> text=Convert")
    page.focus("#go")
    page.keyboard.press("Enter")
    page.wait_for_selector("#models >> text=small.onnx")
    assert viewer(page).locator("#title").inner_text() == "small.onnx"
    page.reload()  # the models are still there
    page.wait_for_selector("#models >> text=small.onnx")


def test_many_files_some_of_which_are_none(page: Any, pages: Path) -> None:
    model = (pages / "model.onnx").read_bytes()
    files = [{"name": f"{i}.onnx", "mimeType": "", "buffer": model} for i in range(19)]
    page.set_input_files("#files", [*files, {"name": "b.onnx", "mimeType": "", "buffer": b"no"}])
    page.wait_for_selector("#diagnostics >> text=SX1151", timeout=20_000)
    assert page.locator("#models li").count() == 19
    large = {"name": "large.onnx", "mimeType": "", "buffer": b"x" * 6_000_000}
    page.set_input_files("#files", large)
    page.wait_for_selector("#diagnostics >> text=larger than 5.0 MB")
    page.click("[aria-label='Remove 18.onnx']")
    page.locator("#models li").nth(18).wait_for(state="detached")  # the page allows no eval()


def test_errors_are_the_commands(page: Any, pages: Path) -> None:
    page.set_input_files("#files", pages / "model.onnx")
    viewer(page)
    page.click("summary")
    page.fill("#fixed", "nothing=1")
    page.click("#go")
    page.wait_for_selector("#diagnostics >> text=error[SX1019]")
    assert page.locator("#diagnostics .help").count() <= 1
    assert not page.locator("#go").is_disabled()


def test_the_server_has_ended(page: Any, server: Server, pages: Path) -> None:
    server.end()
    page.set_input_files("#files", pages / "model.onnx")
    page.wait_for_selector("#diagnostics >> text=does not answer")


def test_watching_a_file(browser: Any, tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    code = "import torch\n\ndef example():\n    return torch.nn.ReLU(), (torch.ones(2),)\n"
    source.write_text(code)
    with serving(tmp_path, "--watch", f"{source}:example") as server:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(server.address)
        page.wait_for_selector("#watching >> text=exported in", timeout=60_000)
        assert viewer(page).locator("#title").inner_text() == "model.onnx"
        source.write_text(code.replace("ReLU()", "ReLUU()"))
        saved = time.monotonic()
        page.wait_for_selector("#diagnostics >> text=error[SX1032]")
        print(f"\n  an error is shown {time.monotonic() - saved:.2f} s after the save")
        assert "model.py:4" in page.inner_text("#diagnostics .at")
        source.write_text(code.replace("ReLU", "Tanh"))
        page.wait_for_selector("#views >> text=Before and after")
        assert viewer(page).locator("#title").inner_text() == "model.onnx ↔ model.onnx"
        assert page.inner_text("#diagnostics") == ""
        page.close()


def test_rules_of_a_node(page: Any, tmp_path: Path) -> None:
    nodes = [
        onnx.helper.make_node("Sigmoid", ["x"], ["s"], name="gate"),
        onnx.helper.make_node("Mul", ["x", "s"], ["y"], name="product"),
    ]
    values = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "swish", values[:1], values[1:])
    opsets = [onnx.helper.make_opsetid("", 24)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets), tmp_path / "swish.onnx")
    page.set_input_files("#files", tmp_path / "swish.onnx")
    viewer(page)
    page.click("summary")
    page.select_option("#runtime", "standard")
    page.check("#rules")
    page.click("#go")
    page.wait_for_selector("#views >> text=Before and after")
    page.click("#views >> text=swish-optimized.onnx")
    frame = viewer(page)
    frame.locator("#search").fill("op:swish")
    frame.locator("#results li").first.click()
    frame.locator("#panel .rules li", has_text="raise-swish").wait_for()
    # The link to a node is in the clipboard, or in a dialog where the browser does not let it.
    links: list[str] = []

    def accept(dialog: Any) -> None:
        links.append(dialog.default_value)
        dialog.accept()

    page.on("dialog", accept)
    frame.locator("text=Copy link").click()
    for _ in range(50):
        if links or frame.locator("#message", has_text="clipboard").is_visible():
            break
        page.wait_for_timeout(100)
    else:
        pytest.fail("no link is given")
    assert all("/models/2#node/" in link for link in links)

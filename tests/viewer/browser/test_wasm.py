"""The page without a server: the library is WebAssembly, in a worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.harness.command import run_command
from tests.serve.server import safetensors
from tests.viewer.models import transformer
from tests.wasm.models import dense_model
from tests.wasm.module import BUILD, why_not
from tests.wasm.serving import serving

from .test_serve import SIZES, viewer

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
PROGRAM = {"name": "small.pt2", "mimeType": "", "buffer": (CORPUS / "pt2" / "small").read_bytes()}
SLOW = 20_000


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(BUILD / "page") as at:
        yield at


@pytest.fixture(params=SIZES.values(), ids=SIZES)
def page(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height})
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda line: line.type == "error" and errors.append(line.text))
    opened.on("request", lambda each: each.url.startswith(own) or errors.append(each.url))
    own = (address, "data:", f"blob:{address}", "blob:null")
    opened.goto(address)
    opened.wait_for_selector("#runtime option >> nth=1", state="attached", timeout=SLOW)
    yield opened
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert errors == []
    context.close()


def test_optimize_and_download(page: Any, pages: Path, tmp_path: Path) -> None:
    page.set_input_files("#files", pages / "model.onnx")
    assert viewer(page).locator("#title").inner_text() == "model.onnx"
    page.select_option("#runtime", "onnxruntime-cpu")
    page.select_option("#precision", "int8")
    page.click("#go")
    page.wait_for_selector("#status >> text=nodes", timeout=SLOW)
    both = page.frame_locator("#viewer").locator("#title", has_text="model-optimized.onnx")
    both.wait_for(timeout=SLOW)
    with page.expect_download() as download:
        page.click("#downloads >> text=Download")
    saved, by_command = tmp_path / "saved.onnx", tmp_path / "by-command.onnx"
    download.value.save_as(saved)
    assert download.value.suggested_filename == "model-optimized.onnx"
    words = ("--runtime", "onnxruntime-cpu", "--precision", "int8")
    assert run_command("optimize", pages / "model.onnx", "-o", by_command, *words).returncode == 0
    assert saved.read_bytes() == by_command.read_bytes()


def test_convert_by_keyboard(page: Any) -> None:
    page.set_input_files("#files", PROGRAM)
    page.wait_for_selector("#go >> text=Convert")
    page.focus("#go")
    page.keyboard.press("Enter")
    page.wait_for_selector("#models >> text=small.onnx", timeout=SLOW)
    assert viewer(page).locator("#title").inner_text() == "small.onnx"
    page.click("[aria-label='Remove small.onnx']")
    page.wait_for_selector("#models >> text=small.onnx", state="detached")


def test_files_that_are_no_models(page: Any, pages: Path) -> None:
    model = (pages / "model.onnx").read_bytes()
    files = [{"name": f"{i}.onnx", "mimeType": "", "buffer": model} for i in range(19)]
    page.set_input_files("#files", [*files, {"name": "b.onnx", "mimeType": "", "buffer": b"no"}])
    page.wait_for_selector("#diagnostics >> text=SX1151", timeout=SLOW)
    assert page.locator("#models li").count() == 19
    script = {"name": "script.pt", "mimeType": "",
              "buffer": (CORPUS / "torchscript" / "language").read_bytes()}  # fmt: skip
    page.set_input_files("#files", script)
    page.wait_for_selector("#go >> text=Convert")
    page.click("#go")
    page.wait_for_selector("#diagnostics >> text=SX1122", timeout=SLOW)
    page.click("summary >> text=Dimensions")
    page.fill("#input", "x:float32[n,3]")
    page.click("#go")
    page.wait_for_selector("#models >> text=script.onnx", timeout=SLOW)


def test_weights(page: Any) -> None:
    file = {"name": "w.safetensors", "mimeType": "", "buffer": safetensors({"layer": [2, 3]})}
    page.set_input_files("#files", file)
    text = page.frame_locator("#viewer").locator("pre", has_text="float32[2, 3]")
    text.wait_for(timeout=SLOW)
    assert not page.locator("#job").is_visible()


def test_external_data(page: Any, tmp_path: Path) -> None:
    path = tmp_path / "apart.onnx"
    onnx.save(transformer(20), path, save_as_external_data=True, location="apart.data",
              size_threshold=0)  # fmt: skip
    page.set_input_files("#files", [path, tmp_path / "apart.data"])
    page.wait_for_selector("#go >> text=Optimize", timeout=SLOW)
    page.click("#go")
    page.wait_for_selector("#downloads >> text=External data", timeout=SLOW)


def test_offline(browser: Any, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.evaluate("navigator.serviceWorker.ready")
    context.set_offline(True)
    page.reload()
    page.wait_for_selector("#runtime option >> nth=1", state="attached", timeout=SLOW)
    convert(page)
    context.close()


def opened(context: Any, address: str) -> Any:
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#runtime option >> nth=1", state="attached", timeout=SLOW)
    return page


def convert(page: Any) -> None:
    page.set_input_files("#files", PROGRAM)
    page.wait_for_selector("#go >> text=Convert", timeout=SLOW)
    page.click("#go")
    page.wait_for_selector("#models >> text=small.onnx", timeout=SLOW)


def test_a_folder(page: Any, tmp_path: Path) -> None:
    """It is dropped next to a file, which is taken."""
    folder, file = tmp_path / "models", tmp_path / "small.pt2"
    folder.mkdir()
    file.write_bytes(PROGRAM["buffer"])
    data = {"items": [], "files": [str(folder), str(file)], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 250, "y": 300, "data": data})
    page.wait_for_selector("#diagnostics >> text='models' is a folder", timeout=SLOW)
    page.wait_for_selector("#models >> text=small.pt2", timeout=SLOW)


@pytest.mark.parametrize("moment", ["read", "converted"])
def test_a_tab_that_is_closed_meanwhile(
    browser: Any, address: str, tmp_path: Path, moment: str
) -> None:
    path = dense_model(tmp_path / "dense.onnx", 20_000)
    context = browser.new_context()
    page = opened(context, address)
    page.set_input_files("#files", path)
    if moment == "converted":
        page.wait_for_selector("#go >> text=Optimize", timeout=SLOW)
        page.select_option("#precision", "int4")
        page.click("#go")
        page.wait_for_selector("#status >> text=Optimizing dense.onnx")
    page.close()
    again = opened(context, address)
    assert again.locator("#models li").count() == 0
    convert(again)
    context.close()


def test_a_quota_that_ends(browser: Any, address: str) -> None:
    """The page is not kept for when there is no network, and works all the same."""
    context = browser.new_context()
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Storage.overrideQuotaForOrigin", {"origin": address.rstrip("/"), "quotaSize": 1})
    page.goto(address)
    page.wait_for_selector("#runtime option >> nth=1", state="attached", timeout=SLOW)
    convert(page)
    with page.expect_download() as download:
        page.click("#downloads >> text=Download")
    assert download.value.failure() is None
    session.send("Storage.overrideQuotaForOrigin", {"origin": address.rstrip("/")})
    context.close()

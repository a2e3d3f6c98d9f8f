"""The viewer's page where no browser is: what Python makes of a program, and its script."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import onnx
import pytest

from sardonyx import ONNXProgram, _native
from tests.viewer.browser.driving import ARGUMENTS, CHROMIUM
from tests.viewer.models import transformer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> ONNXProgram:
    path = tmp_path_factory.mktemp("viewer") / "model.onnx"
    onnx.save(transformer(40), path)
    return ONNXProgram(_native.read_model(str(path)))


def data_of(html: str) -> dict:
    found = re.search(r'id="model">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_a_program_is_visualized(program: ONNXProgram, tmp_path: Path) -> None:
    shown = program.visualize(measures={"time (ms)": {"/embed/Gather": 0.25}}, title="<b>mine")
    data = data_of(shown.html)
    assert data["models"][0]["title"] == "<b>mine"
    assert data["measures"][0]["unit"] == "ms"
    assert 0.25 in data["measures"][0]["nodes"]
    shown.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == shown.html
    assert len(data_of(program.visualize(compare=program).html)["models"]) == 2
    with pytest.raises(TypeError, match="measures is a mapping"):
        program.visualize(measures=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r'measures\["time"\] is a mapping'):
        program.visualize(measures={"time": 3})  # type: ignore[dict-item]


class _Frames(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pages: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "iframe":
            self.pages.append(dict(attrs))


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(program: ONNXProgram) -> None:
    frames = _Frames()
    frames.feed(program._repr_html_())
    [attributes] = frames.pages
    assert attributes["srcdoc"] == program.visualize().html
    assert "allow-same-origin" not in (attributes["sandbox"] or "")


def test_a_browser_shows_it(program: ONNXProgram, tmp_path: Path) -> None:
    """A sample; `make browser-tests` does what people do."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here")
    program.visualize(title="shown").save(tmp_path / "page.html")
    words = [CHROMIUM, "--headless=new", *ARGUMENTS, f"--user-data-dir={tmp_path / 'profile'}",
             "--virtual-time-budget=2000", "--dump-dom",
             (tmp_path / "page.html").as_uri()]  # fmt: skip
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert 'data-ready="true"' in done.stdout, done.stderr[-2000:]
    assert "<h2>shown</h2>" in done.stdout


def _modules(layer: str) -> list[Path]:
    """Those of a layer's page, in the order in which the build puts them together."""
    listed = (ROOT / "cmake" / "embed_page.cmake").read_text(encoding="utf-8")
    found = re.search(rf"set\(modules_of_{layer}\s([^)]*)\)", listed)
    assert found is not None
    names = found[1]
    for other in ("shared", "serve"):
        folder = re.search(rf"set\({other} (\S+)\)", listed)
        assert folder is not None
        names = names.replace(f"${{{other}}}", folder[1])
    return [(ROOT / "src" / layer / "page" / name).resolve() for name in names.split()]


@pytest.mark.parametrize("layer", ["viewer", "serve", "wasm"])
def test_the_script_is_in_layers(layer: str) -> None:
    """Each module imports only those before it, and text never becomes markup."""
    order = _modules(layer)
    page = ROOT / "src" / layer / "page"
    apart = {page / "worker.js", page / "service-worker.js"}  # scripts of their own
    assert sorted(each for each in order if each.parent == page) == sorted(
        {each.resolve() for each in page.glob("*.js")} - apart
    )
    # Where there is no server, another module stands in its place.
    instead = {ROOT / "src" / "serve" / "page" / "server.js": page / "server.js"}
    for i, module in enumerate(order):
        text = module.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
        imported = [(module.parent / name).resolve() for name in re.findall(r"from '(.*)'", text)]
        assert {instead.get(each, each) for each in imported} <= set(order[:i]), module
        for names in re.findall(r"import \{([^}]*)\}", text):
            unused = [each for each in re.findall(r"\w+", names) if text.count(each) < 2]
            assert not unused, module
    names = [each for module in order for each in _top_names(module)]
    assert len(names) == len(set(names)), "they become one script"


def _top_names(module: Path) -> list[str]:
    declared = r"^(?:export )?(?:async )?(?:const|let|class|function\*?) (\w+)"
    return re.findall(declared, module.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_script_is_right_javascript(program: ONNXProgram, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here")
    script = program.visualize().html.split('<script type="module">')[1].split("</script>")[0]
    path = tmp_path / "page.mjs"
    path.write_text(script, encoding="utf-8")
    done = subprocess.run([node, "--check", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

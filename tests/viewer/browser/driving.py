"""The viewer in headless Chromium, driven as a person would: by mouse, keyboard and touch."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
# Without a sandbox, which containers do not let it have.
ARGUMENTS = ["--no-sandbox", "--disable-gpu"]


class Viewer:
    """A page that is open. It fails for errors of the script and for requests to anywhere."""

    def __init__(self, page: Any, path: Path, fragment: str = "") -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)
        page.on("dialog", lambda dialog: self.errors.append(f"a dialog: {dialog.message}"))
        page.on("request", lambda request: self._request(request.url))
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _request(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.errors.append(f"a request to {url}")

    def check(self) -> None:
        assert self.errors == []

    @property
    def panel(self) -> Any:
        return self.page.locator("#panel")

    @property
    def heading(self) -> str:
        return str(self.page.locator("#panel h2").first.inner_text())

    def wait_for_heading(self, text: str) -> None:
        self.page.locator("#panel h2", has_text=text).first.wait_for(timeout=5000)

    def at(self, selection: str, side: int = 0) -> tuple[float, float]:
        """The middle of a box on the screen, once nothing moves any more."""
        self.page.wait_for_timeout(350)
        script = (
            f"(() => {{ const view = viewer.views[{side}], box = view.boxOnScreen({selection});"
            " const place = view.canvas.getBoundingClientRect();"
            " return [place.left + box.x + box.width / 2, place.top + box.y + box.height / 2]; })()"
        )
        x, y = self.page.evaluate(script)
        return x, y

    def group(self, path: str) -> str:
        return (
            "{kind: 'group', index: viewer.active.model.groups.findIndex("
            f"group => group.path === {path!r})}}"
        )

    def node(self, name: str) -> str:
        return f"{{kind: 'node', index: viewer.active.model.nodeNamed({name!r})}}"

    def expanded(self, path: str) -> bool:
        found = f"viewer.active.arranger.expanded.has({self.group(path)}.index)"
        return bool(self.page.evaluate(found))

    def search(self, text: str) -> None:
        self.page.keyboard.press("/")
        self.page.keyboard.type(text)
        self.page.wait_for_timeout(150)

    def colors(self) -> int:
        """How many colors there are on the canvas: more than one where something is drawn."""
        script = (
            "(() => { const {canvas} = viewer.active; const data = canvas.getContext('2d')"
            ".getImageData(0, 0, canvas.width, canvas.height).data; const found = new Set();"
            " for (let i = 0; i < data.length; i += 4)"
            " found.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); return found.size; })()"
        )
        return int(self.page.evaluate(script))

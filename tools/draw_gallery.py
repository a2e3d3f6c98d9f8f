"""The site's gallery: models of tests/models/gallery.py, exported, optimized, each in the viewer.

python tools/draw_gallery.py COMMAND FOLDER     (tools/build_site.py calls it)

What was drawn before is taken from .cache/gallery, where nothing that it depends on has changed.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "gallery"
SOURCES = ("tests/models/gallery.py", "tools/draw_gallery.py")

if TYPE_CHECKING:
    from tests.models.gallery import Entry

# The viewer takes the width of the window: menus at the side would leave it too little.
PAGE = """---
hide: [navigation, toc]
---
# {title}

{text} {before} nodes as translated, {after} after optimizing.

<iframe src="both.html" title="{title}, before and after optimizing" loading="lazy"
  style="width: 100%; height: min(75vh, 50rem); border: 1px solid #8886"></iframe>

Alone: [before]({name}/before.html), [after]({name}/after.html), [both]({name}/both.html).
All models: [gallery](index.md).

## The model

```py
{code}
```
"""


def main() -> int:
    """Writes the pages into the folder."""
    command, folder = sys.argv[1], Path(sys.argv[2])
    kept = CACHE / digest(Path(command))
    if not kept.exists():
        drawn = draw_into(command, CACHE)
        shutil.rmtree(kept, ignore_errors=True)
        drawn.rename(kept)
        for other in CACHE.iterdir():
            if other != kept:
                shutil.rmtree(other)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    # What people wrote stands above the table.
    index = folder / "index.md"
    intro = (ROOT / "docs" / "gallery" / "index.md").read_text(encoding="utf-8")
    index.write_text(intro + "\n" + (kept / "table.md").read_text(encoding="utf-8"), "utf-8")
    (folder / "table.md").unlink()
    return 0


def digest(command: Path) -> str:
    """Of all that the pages depend on: our sources, the command, the package, PyTorch."""
    import torch

    import sardonyx

    found = hashlib.sha256(torch.__version__.encode())
    package = Path(sardonyx.__file__).parent
    files = [*(ROOT / each for each in SOURCES), command, *sorted(package.rglob("*.py"))]
    for path in [*files, *sorted(package.glob("*.so"))]:
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:24]


def draw_into(command: str, parent: Path) -> Path:
    """A new folder in `parent` with all pages, and table.md, which lists them."""
    from tests.models.gallery import GALLERY

    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent, prefix="unfinished-"))
    folder.chmod(0o755)  # the site's servers are to read it
    lines = ["| model | what it shows | nodes before | after |", "|---|---|---|---|"]
    for entry in GALLERY:
        before, after = draw(entry, command, folder)
        lines.append(f"| [{entry.title}]({entry.name}.md) | {entry.text} | {before} | {after} |")
    (folder / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def draw(entry: Entry, command: str, folder: Path) -> tuple[int, int]:
    """Writes NAME.md, NAME/before.html, NAME/after.html and NAME/both.html; the nodes of both
    models."""
    pages = folder / entry.name
    pages.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        first, second = export(entry, command, Path(scratch))
        run(command, "inspect", first, "--html", pages / "before.html")
        run(command, "inspect", second, "--html", pages / "after.html")
        run(command, "diff", first, second, "--html", pages / "both.html")
        before, after = (node_count(command, each) for each in (first, second))
    text = PAGE.format(
        title=entry.title,
        text=entry.text,
        name=entry.name,
        before=before,
        after=after,
        code="\n\n\n".join(inspect.getsource(each).rstrip() for each in classes(entry)),
    )
    (folder / f"{entry.name}.md").write_text(text, encoding="utf-8")
    return before, after


def export(entry: Entry, command: str, folder: Path) -> tuple[Path, Path]:
    """The model as it is translated, and what `sardonyx optimize` makes of it."""
    import sardonyx

    model = entry.build()
    program = sardonyx.export(
        model, entry.inputs(2), dynamic_shapes=entry.dynamic_shapes, optimize=False
    )
    first, second = folder / f"{entry.name}.onnx", folder / f"{entry.name}-optimized.onnx"
    program.save(first, strip_paths=True)
    run(command, "optimize", first, "-o", second)
    return first, second


def classes(entry: Entry) -> Iterator[type]:
    """The classes of the model that are our own, in the order of their definition."""
    own = {type(each) for each in entry.build().modules()}
    mine = [each for each in own if each.__module__.endswith("models.gallery")]
    yield from sorted(mine, key=lambda each: inspect.getsourcelines(each)[1])


def node_count(command: str, path: Path) -> int:
    return int(json.loads(run(command, "inspect", path, "--json"))["nodes"])


def run(command: str, *words: str | Path) -> str:
    done = subprocess.run([command, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"sardonyx {words[0]}: {done.stderr or done.stdout}")
    return done.stdout


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())

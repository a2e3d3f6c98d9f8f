"""Pictures of the site, made from the code: what layer knows which, what simplifying a model does.

python tools/draw_pictures.py COMMAND FOLDER     (tools/build_site.py calls it)
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAYER = re.compile(r"sardonyx_layer\(NAME (\w+)([^)]*)\)")
ROW = 30  # pixels
# Biases of zero, which a new model has, would be dropped.
BERT = """
import sys, torch
from tests.models.zoo import ZOO
bert = ZOO.build("bert", "full")
for weight in bert.model.parameters():
    if weight.dim() == 1:
        torch.nn.init.uniform_(weight)
torch.export.save(bert.captured(), sys.argv[1])
"""
ORANGE, DARK, GREY = "#d9480f", "#333333", "#868e96"


def main() -> int:
    """Writes layers.svg and rules.svg into the folder."""
    command, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "layers.svg").write_text(layers(), encoding="utf-8")
    (folder / "rules.svg").write_text(rules(command), encoding="utf-8")
    return 0


def layers() -> str:
    """A row a layer, in the order in which they are built; an arc to each one that it links."""
    listed = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    knows: dict[str, list[str]] = {}
    for folder in re.findall(r"add_subdirectory\((src/[\w/]+)\)", listed):
        text = (ROOT / folder / "CMakeLists.txt").read_text(encoding="utf-8")
        for name, words in LAYER.findall(text):
            depends = re.split(r"\b(?:USES|PRECOMPILE|JOINED|ALONE)\b", words)[0].split()
            knows[name] = [word for word in depends if word != "DEPENDS"]
    at = {name: ROW * (i + 1) for i, name in enumerate(knows)}
    parts = []
    for name, below in knows.items():
        for other in below:
            radius = (at[name] - at[other]) / 2
            parts.append(
                f'<path d="M 150 {at[name] - 5} A {radius * 0.8:.0f} {radius:.0f} 0 0 0 '
                f'150 {at[other] - 5}" fill="none" stroke="{ORANGE}" stroke-opacity="0.6"/>'
            )
        parts.append(_text(140, at[name], name, DARK, "end"))
        parts.append(f'<circle cx="150" cy="{at[name] - 5}" r="4" fill="{DARK}"/>')
    return _picture(400, ROW * (len(knows) + 1), parts)


def rules(command: str) -> str:
    """How often each rule applied to BERT-base, as it was translated."""
    with tempfile.TemporaryDirectory(prefix="sardonyx-site-") as scratch:
        program, spelt_out, simple = (
            str(Path(scratch) / name) for name in ("bert.pt2", "decomposed.onnx", "simple.onnx")
        )
        subprocess.run([sys.executable, "-W", "ignore", "-c", BERT, program], cwd=ROOT, check=True)
        words = [command, "convert", program, "-o", spelt_out, "--no-optimize"]
        subprocess.run(words, check=True, capture_output=True)
        done = subprocess.run(
            [command, "optimize", spelt_out, "-o", simple, "--json"],
            check=True,
            capture_output=True,
        )
    told = json.loads(done.stdout)
    counts: Counter[str] = Counter()
    for each in told["applied"]:
        counts[each["name"]] += each["count"]
    most = max(counts.values())
    head = f"{told['nodes_before']} nodes as translated, {told['nodes']} as written"
    parts = [_text(20, ROW, head, DARK, "start")]
    for i, (name, count) in enumerate(counts.most_common()):
        y = ROW * (i + 2)
        width = 300 * count / most
        parts.append(_text(235, y, name, DARK, "end"))
        parts.append(
            f'<rect x="245" y="{y - 15}" width="{width:.0f}" height="18" fill="{ORANGE}"/>'
        )
        parts.append(_text(252 + int(width), y, str(count), GREY, "start"))
    return _picture(620, ROW * (len(counts) + 2), parts)


def _text(x: int, y: int, text: str, color: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" fill="{color}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _picture(width: int, height: int, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="monospace" font-size="14">'
    )
    ground = f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>'
    return "\n".join([head, ground, *parts, "</svg>\n"])


if __name__ == "__main__":
    sys.exit(main())

"""Checks the language of docs, messages and comments: no phrase that only this project uses, and no
long paragraph.

The phrases are those that the field has other words for: say "dynamic dimension", not "size that
varies". Pages that are generated from texts in the sources, and folders of sources that still have
such phrases, stand in TO_DO, from which they go one by one.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 120  # words of a paragraph

# What not to write: what to write.
PHRASES = {
    r"fewer bits": "quantization",
    r"weights in blocks": "block-wise quantized weights",
    r"the other factor": "activations, or the other operand",
    r"processor time": "CPU time",
    r"by turns": "in interleaved runs",
    r"(?:models|files) of (?:others|other makers)": "third-party models",
    r"other makers": "other exporters, or other tools",
    r"sizes? that var(?:y|ies)": "dynamic dimensions",
    r"(?:left|leaves?) (?:free|open)": "dynamic",
    r"data decides?": "data-dependent",
    r"a run decides": "data-dependent",
    r"only a run (?:tells|knows|decides)": "known only at run time",
    r"both ways": "both branches",
    r"spel(?:t|led) out": "decomposed",
    r"taken apart": "decomposed",
    r"(?:runtime|ONNX Runtime|provider)'s own operators": "contrib operators",
    r"operators of (?:the runtime|ONNX Runtime)'s own": "contrib operators",
    r"core dialect": "canonical IR",
    r"newest forms?": "newest opset",
    r"\bmended\b|\bmends?\b": "fixed",
    r"functionalis|optimis|simplif(?:ier)\b|quantis|normalis(?!ation\.py)": "American spelling",
    r"quick capture": "fake-tensor tracing",
    r"stands? in (?:for )?(?:it|them)\b": "is in it",
    r"held against": "compared with",
    r"thrown at": "fuzzed",
    r"a note (?:tells|says)": "a note reports",
    r"\bis told\b|\bare told\b|\bit tells\b": "is reported, reports",
    r"what is spread": "a broadcast",
    r"taken for a number|made constant|(?:is|are|was|were) frozen": "specialized",
    r"second file of weights": "external data",
    r"of the user's own": "custom",
    r"goes on in either side": "name it",
    r"beside (?:other|our|ours|it)\b": "next to, or compared with",
}  # fmt: skip
BANNED = {re.compile(rf"\b(?:{phrase})", re.IGNORECASE): say for phrase, say in PHRASES.items()}

# Pages that are written by tools from texts in the sources, and pages still to be rewritten.
TO_DO_PAGES = {"operators.md", "architectures.md", "targets.md"}
# Sources whose comments and messages are checked; all others are still to do.
CLEAN_SOURCES = (
    "src/cli",
    "src/quantization",
    "src/report",
    "python/sardonyx/_base",
    "python/sardonyx/_capture/meta_tracer/control_flow",
    "python/sardonyx/_capture/meta_tracer/entry",
    "python/sardonyx/_capture/meta_tracer/isolation",
    "python/sardonyx/_capture/patches",
    "python/sardonyx/_capture/torchscript",
    "python/sardonyx/_capture/trace",
    "python/sardonyx/_cli",
    "python/sardonyx/_compare",
    "python/sardonyx/_debugging",
    "python/sardonyx/_diffusers_private",
    "python/sardonyx/_legacy",
    "python/sardonyx/_model",
    "python/sardonyx/_optimize",
    "python/sardonyx/_quantize",
    "python/sardonyx/_refresh",
    "python/sardonyx/_report",
    "python/sardonyx/_runtime",
    "python/sardonyx/_torch_private",
    "python/sardonyx/hf/base",
    "python/sardonyx/hf/components",
    "python/sardonyx/hf/evaluation",
    "python/sardonyx/hf/inputs",
    "python/sardonyx/hf/output",
    "python/sardonyx/hf/command.py",
    "python/sardonyx/ops",
    "tests/site",
    "tests/harness/pages.py",
    "tools/build_site.py",
    "tools/check_diagnostics.py",
    "tools/check_tree.py",
    "tools/cpp_reference.py",
    "tools/draw_pictures.py",
    "tools/generate_figures.py",
    "tools/generate_rules.py",
    "tools/take_screenshots.sh",
)
SOURCES = (".py", ".cpp", ".h", ".sh")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")
GENERATED = re.compile(r"<!-- figures: \w+ -->.*?<!-- end figures -->", re.DOTALL)


def pages(root: Path) -> Iterator[Path]:
    """Every page that somebody writes."""
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        if (root / name).is_file():
            yield root / name
    for page in sorted((root / "docs").rglob("*.md")):
        if page.name not in TO_DO_PAGES:
            yield page


def check_page(page: Path) -> list[str]:
    """Banned phrases and long paragraphs of a page."""
    text = page.read_text(encoding="utf-8")
    # Blank lines take the place of code and of tables that are generated, to keep line numbers.
    for skipped in (FENCED, GENERATED):
        text = skipped.sub(lambda match: "\n" * match[0].count("\n"), text)
    complaints = banned(page, CODE.sub("", text))
    line = 1
    for paragraph in text.split("\n\n"):
        for part in parts(paragraph):
            if (words := len(part.split())) > LONGEST:
                complaints.append(f"{page}:{line}: a paragraph of {words} words, above {LONGEST}")
        line += paragraph.count("\n") + 2
    return complaints


def parts(paragraph: str) -> list[str]:
    """Items of a list and rows of a table are paragraphs of their own."""
    return re.split(r"\n(?=\s*(?:[-*|]|\d+\.) ?)", paragraph)


def banned(file: Path, text: str) -> list[str]:
    """Where a text has a phrase that it should not have."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, say in BANNED.items():
            if match := pattern.search(line):
                found.append(f"{file}:{number}: '{match[0]}': write {say}")
    return found


def check(root: Path) -> list[str]:
    """Every complaint about the checkout at `root`."""
    complaints = [each for page in pages(root) for each in check_page(page)]
    for name in CLEAN_SOURCES:
        place = root / name
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        for file in files:
            if file.suffix in SOURCES and file.is_file() and file.name != "check_words.py":
                complaints += banned(file, file.read_text(encoding="utf-8"))
    complaints += check_data(root / "docs" / "data" / "figures.json")
    return complaints


def check_data(file: Path) -> list[str]:
    """What the data file says goes into pages."""
    if not file.is_file():
        return []
    data = json.loads(file.read_text(encoding="utf-8"))
    return banned(file, json.dumps(data, indent=1, ensure_ascii=False))


def main() -> int:
    """Prints the complaints; 1 where there are some."""
    root = Path(__file__).resolve().parent.parent
    complaints = check(root)
    for name in CLEAN_SOURCES:
        if not (root / name).exists():
            complaints.append(f"{name}: is in CLEAN_SOURCES and does not exist")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"words: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

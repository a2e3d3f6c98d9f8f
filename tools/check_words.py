"""Checks the language of docs, messages and comments: no phrase that only this project uses, and no
long paragraph.

The phrases are those that the field has other words for: say "dynamic dimension", not "size that
varies". Pages that are generated from texts in the sources are left out.
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
# One search of a whole text in lower case, which most texts pass: ten times as fast as one by one.
ANY = re.compile(rf"\b(?:{'|'.join(PHRASES).lower()})")

# Names of variables and functions that tell nothing of what they hold: say what it is, such as
# "message", "reasons" or "arguments".
NAMES = re.compile(
    r"^\s*(?:told|said)\s*(?::[^=]+)?=[^=]"
    r"|\bdef _?(?:told|said)\("
    r"|\b(?:auto|bool|std::string|[A-Z]\w+)[*&]?(?: const)?[*&]? (?:told|said)(?: =|;|\()",
    re.MULTILINE,
)
NAMED_FOLDERS = ("include", "python", "src")

# Pages that are written by tools from texts in the sources.
GENERATED_PAGES = {"operators.md", "architectures.md", "targets.md"}
# Sources whose comments, messages and names are checked.
SOURCE_FOLDERS = ("bench", "examples", "include", "python", "src", "tests", "tools")
# Sources that hold the phrases, to check for them.
EXEMPT = ("check_words.py", "test_checks.py")
SOURCES = (".py", ".pyi", ".cpp", ".h", ".inc", ".sh")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")
GENERATED = re.compile(r"<!-- figures: \w+ -->.*?<!-- end figures -->", re.DOTALL)


def pages(root: Path) -> Iterator[Path]:
    """Every page that somebody writes."""
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        if (root / name).is_file():
            yield root / name
    for page in sorted((root / "docs").rglob("*.md")):
        if page.name not in GENERATED_PAGES:
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
    found: list[str] = []
    if not ANY.search(text.lower()):
        return found
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, say in BANNED.items():
            if match := pattern.search(line):
                found.append(f"{file}:{number}: '{match[0]}': write {say}")
    return found


def vague_names(file: Path, text: str) -> list[str]:
    """Where a name tells nothing of what it stands for."""
    return [
        f"{file}:{text.count(chr(10), 0, match.end()) + 1}: name what `{match[0].strip()}` holds"
        for match in NAMES.finditer(text)
    ]


def check(root: Path) -> list[str]:
    """Every complaint about the checkout at `root`."""
    complaints = [each for page in pages(root) for each in check_page(page)]
    for folder in SOURCE_FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SOURCES and file.is_file() and file.name not in EXEMPT:
                text = file.read_text(encoding="utf-8")
                complaints += banned(file, text)
                if folder in NAMED_FOLDERS:
                    complaints += vague_names(file, text)
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
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"words: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

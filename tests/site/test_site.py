"""A newcomer's ten questions: each answered within two clicks from the front page, and found by the
site's search."""

from __future__ import annotations

import functools
import html
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlparse

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build-site" / "site"
pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="make site builds the site first"
)

# The question, a page that answers it, and what has to stand there.
QUESTIONS = [
    ("install", "installation/", "pip install sardonyx"),
    ("export a model with a dynamic batch", "how-to/dynamic-sizes/", '{0: "batch", 1: "length"}'),
    ("keep a cache", "tutorials/language-models/", "past_key_values"),
    ("quantize", "tutorials/quantization/", "--precision int4"),
    ("choose a target", "how-to/choose-a-target/", "onnxruntime-cpu"),
    ("read SX1015", "diagnostics/SX1015/", "Dim('batch', min=5)"),
    ("why is my size specialized", "how-to/dynamic-sizes/", "Why is my size specialized?"),
    ("CUDA", "deployment/onnxruntime-cuda/", "CUDAExecutionProvider"),
    ("from C++", "how-to/cpp/", "find_package(sardonyx"),
    ("which versions", "compatibility/", "PyTorch"),
]  # fmt: skip
# What is typed into the search, and the page that has to be among the first three.
SEARCHES = {
    "kv cache": "tutorials/language-models/",
    "batch size": "how-to/dynamic-sizes/",
    "macos": "installation/",
    "faq": "faq/",
    "troubleshooting": "troubleshooting/",
}


class Links(HTMLParser):
    """The addresses of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and (address := dict(attrs).get("href")):
            self.found.append(address)


def read(page: str) -> str:
    return (SITE / page / "index.html").read_text(encoding="utf-8")


@functools.cache
def linked(page: str) -> set[str]:
    """The pages of the site that a page links to."""
    links = Links()
    links.feed(read(page))
    pages = (
        urlparse(urljoin("http://site/" + page, each)).path.lstrip("/") for each in links.found
    )
    return {each for each in pages if (SITE / each / "index.html").is_file()}


@pytest.mark.parametrize(("question", "page", "answer"), QUESTIONS)
def test_two_clicks(question: str, page: str, answer: str) -> None:
    first = linked("")
    assert page in first | {each for front in first for each in linked(front)}, question
    text = html.unescape(re.sub(r"<[^>]+>", "", read(page)))
    assert answer in text


def sections() -> Iterator[tuple[str, str, str]]:
    index = json.loads((SITE / "search" / "search_index.json").read_text(encoding="utf-8"))
    for each in index["docs"]:
        yield each["location"].partition("#")[0], each["title"].lower(), each["text"].lower()


@pytest.mark.parametrize(("words", "page"), SEARCHES.items())
def test_search(words: str, page: str) -> None:
    """Sections whose title has all words come first, as in lunr's index, which weighs titles."""
    scores: dict[str, int] = {}
    for location, title, text in sections():
        in_title = sum(10 for word in words.split() if word in title)
        scores[location] = max(scores.get(location, 0), in_title + text.count(words))
    best = sorted(scores, key=lambda each: -scores[each])
    assert page in best[:5], best[:5]


def test_every_code_has_a_page() -> None:
    codes = re.findall(r"diagnostics/(SX\d{4})/", read("diagnostics").replace("../", ""))
    assert codes or (SITE / "diagnostics").is_dir()
    table = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    for code in re.findall(r"^\| (SX\d{4}) \|", table, re.MULTILINE):
        assert (SITE / "diagnostics" / code / "index.html").is_file()

"""The page of architectures: rows without a record stay as they were."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("transformers")

from bench.hf import page as pages
from bench.hf.page import write_page

_TASKS = ("text-generation-with-past", "foremost")


@pytest.fixture(autouse=True)
def _two_architectures(monkeypatch):
    """Those that there are: to ask transformers for all of them takes a minute."""
    names = ("albert", "bert")
    monkeypatch.setattr(pages, "foremost_tasks", lambda: dict.fromkeys(names, "fill-mask"))


def test_rows_without_a_record_stay(tmp_path):
    records = tmp_path / "onnxruntime" / "foremost"
    records.mkdir(parents=True)

    def record(name: str, version: str, status: str) -> None:
        facts = {"name": name, "task": "fill-mask", "status": status}
        facts["releases"] = {"torch": "2.13.0", "transformers": version}
        (records / f"{name}.json").write_text(json.dumps(facts))

    page = tmp_path / "architectures.md"
    record("bert", "5.20.0", "right")
    record("albert", "5.20.0", "refused")
    write_page(page, tmp_path, *_TASKS)
    (records / "bert.json").unlink()
    record("albert", "5.24.0", "right")
    write_page(page, tmp_path, *_TASKS)
    text = page.read_text()
    assert "| albert | fill-mask | right | 5.24.0 |  |" in text
    assert "| bert | fill-mask | right | 5.20.0 |  |" in text
    assert "- 5.24.0: 1 architectures: 1 right" in text
    assert text.count("## Decoders") == text.count("## All others") == 1


def test_the_table_of_decoders_stays_without_records(tmp_path):
    folder = tmp_path / "onnxruntime" / _TASKS[0]
    folder.mkdir(parents=True)
    page = tmp_path / "architectures.md"
    kept = folder / "llama.json"
    kept.write_text(json.dumps({"name": "llama", "status": "right"}))
    write_page(page, tmp_path, *_TASKS)
    before = page.read_text()
    kept.unlink()
    write_page(page, tmp_path, *_TASKS)
    assert "| llama | right |" in before
    assert page.read_text() == before

"""The report for people: what each part is, its weights by module, what was compared, and how long
both take."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import torch
import transformers

import sardonyx.hf

from .checkpoints import llama, saved


class _Page(HTMLParser):
    """Its texts, and the titles of what is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.drawn: list[str] = []

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        if tag not in ("meta", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        kind = self.drawn if self.open and self.open[-1] == "title" else self.texts
        kind.append(data.strip())


def test_a_folder_has_a_page(tmp_path: Path) -> None:
    folder = llama(tmp_path / "llama", torch.float32)
    report = sardonyx.hf.export(folder, tmp_path / "out", verify=True)
    page = _Page()
    page.feed((tmp_path / "out" / "sardonyx.html").read_text(encoding="utf-8"))
    assert page.open == []
    texts = set(page.texts)
    assert {"LlamaForCausalLM", "Compared with PyTorch", "input_ids", "logits"} <= texts
    assert "batch_size × 2 × past_sequence_length × 16" in texts
    assert any(title.startswith("model.layers.1.mlp.up_proj: ") for title in page.drawn)
    assert "Speed: 20 tokens behind 32" in texts
    assert report.speed["pytorch"] > 0
    assert report.speed["onnxruntime"] > 0
    told = json.loads((tmp_path / "out" / "sardonyx.json").read_text(encoding="utf-8"))
    assert told["speed"] == report.speed
    assert "modules" not in told["parts"][0]


def test_what_is_not_compared_is_not_told(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=4,
        vocab_size=100,
    )  # fmt: skip
    folder = saved(transformers.BertForMaskedLM(config).eval(), tmp_path / "bert")
    report = sardonyx.hf.export(folder, tmp_path / "out")
    page = _Page()
    page.feed((tmp_path / "out" / "sardonyx.html").read_text(encoding="utf-8"))
    assert report.speed == {}
    assert "Compared with PyTorch" not in page.texts
    assert any(title.startswith("bert.encoder: ") for title in page.drawn)

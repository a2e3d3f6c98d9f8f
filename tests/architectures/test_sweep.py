"""The machinery of the sweep, on a few architectures and without converting."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sardonyx._transformers_private.registration import register_caches

from .capturing import capture_architecture
from .store import Store
from .summary import summarize
from .tiny import PROFILES, tiny_config
from .workers import run_each


@pytest.mark.parametrize(
    "name, layers", [("llama", 2), ("gemma3_text", 2), ("gpt_oss", 2), ("deepseek_v3", 2)]
)
def test_layers_are_cut_to_one_of_each_kind(name: str, layers: int) -> None:
    config = tiny_config(name, PROFILES[0])
    assert config.num_hidden_layers == layers
    kinds = getattr(config, "layer_types", None)
    assert kinds is None or len(kinds) == layers
    assert config.hidden_size == 64
    assert config.vocab_size == 160


@pytest.fixture(autouse=True)
def _caches_stay_as_sardonyx_takes_them_apart() -> None:
    """A capture registers caches for the whole process, which later tests share."""
    register_caches()


@pytest.mark.parametrize("name", ["albert", "poolformer"])
def test_a_capture_leaves_program_and_answers(name: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    capture_architecture(name, store)
    record = store.recorded("capture", name)
    assert record is not None
    assert record["status"] == "captured", record
    assert "batch" in record["varying"]
    answers = torch.load(store.answers(name))
    assert len(answers) == len(record["sizes"]) == 2
    assert answers[0]["inputs"][0].shape[0] != answers[1]["inputs"][0].shape[0]
    assert store.program(name).exists()


def test_what_cannot_be_built_says_why(tmp_path: Path) -> None:
    store = Store(tmp_path)
    capture_architecture("no such architecture", store)
    record = store.recorded("capture", "no such architecture")
    assert record is not None
    assert record["status"] == "no inputs"
    assert "no such architecture" in record["reasons"][0]


def _work(name: str) -> None:
    while name == "slow":
        pass
    if name == "broken":
        raise ValueError(name)


def test_workers_report_what_does_not_end_well() -> None:
    failures: dict[str, str] = {}
    run_each(["fine", "broken", "slow"], _work, failures.__setitem__, jobs=2, limit=1.0)
    assert failures == {"broken": "exit code 1", "slow": "took longer than 1 s"}


def test_causes_are_grouped_over_names_and_numbers(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name, reason in (
        ("a", "error SX1301: aten::foo at module 'x.1'\nerror SX1301: aten::bar"),
        ("b", "error SX1301: aten::foo at module 'y.22'"),
        ("c", "at [2, 12]: values 3 of 4 differ"),
        ("d", "at [3, 17]: values 1 of 9 differ"),
    ):
        status = "wrong" if name in "cd" else "not converted"
        store.record("compare", name, status=status, reason=reason)
    text = summarize(store)
    assert "2 not converted: error SX1301: aten::foo" in text
    assert "1 not converted: error SX1301: aten::bar" in text
    assert "2 wrong: at [N, N]: values N of N differ" in text

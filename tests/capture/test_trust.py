"""Fake-tensor tracing in releases of PyTorch that nobody has tried, and without what they lack."""

from __future__ import annotations

import json
import sys

import pytest
import torch
from torch.export import Dim

import sardonyx
from sardonyx._base import probing
from sardonyx._capture.features import features
from sardonyx._capture.meta_tracer.entry import self_check, trust
from sardonyx._torch_private import export as torch_export
from sardonyx._torch_private import features as torch_features
from sardonyx._torch_private import operators, questions
from sardonyx._torch_private.state import build_of_torch


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x).relu().reshape(-1) * x.shape[0]


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch, tmp_path):
    """As in a process of its own, with an empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    probes = torch_features._PROBES
    before = [vars(probe).pop("reason", None) for probe in probes]
    trust.distrust.cache_clear()
    yield
    trust.distrust.cache_clear()
    for probe, reason in zip(probes, before, strict=True):
        vars(probe).pop("reason", None)
        if reason is not None:
            vars(probe)["reason"] = reason


@pytest.fixture
def unseen(monkeypatch):
    """A build of PyTorch that is not in the table; the calls of what compares programs in it."""
    monkeypatch.setattr(trust, "VERIFIED", {})
    calls, answers = [], [""]

    def disagreement():
        calls.append(1)
        return answers[-1]

    monkeypatch.setattr(self_check, "disagreement", disagreement)
    return calls, answers


def exported(capfd, **options):
    """What an export of a small model prints when it is verbose, once its answer is right."""
    model, x = Small().eval(), torch.randn(3, 4)
    program = sardonyx.export(model, (x,), dynamic_shapes=({0: "n"},), verbose=True, **options)
    other = torch.randn(5, 4)
    torch.testing.assert_close(torch.as_tensor(program(other)[0]), model(other))
    told = capfd.readouterr()
    return told.out + told.err


def test_small_programs_agree_in_this_pytorch():
    assert self_check.disagreement() == ""


def test_what_differs_is_found():
    class Other(torch.nn.Module):
        calls = 0

        def forward(self, x):
            type(self).calls += 1
            return x + self.calls

    def programs():
        yield self_check.Program(Other(), (torch.zeros(2),), ({0: Dim.AUTO},))

    assert "other: another program than torch.export's" in self_check.disagreement(programs)


def test_random_numbers_go_on_as_they_were():
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    self_check.disagreement()
    assert torch.equal(torch.rand(4), expected)


def test_a_new_build_is_tried_once(unseen, tmp_path):
    calls, _ = unseen
    for _ in range(2):
        assert trust.distrust() == ""
        trust.distrust.cache_clear()
    assert len(calls) == 1
    (kept,) = (tmp_path / "sardonyx").iterdir()
    assert json.loads(kept.read_text())["torch"] == str(build_of_torch())
    kept.write_text("{")  # cut short
    assert trust.distrust() == ""
    assert len(calls) == 2


def test_a_build_of_the_table_is_not_tried(unseen, monkeypatch):
    calls, _ = unseen
    monkeypatch.setattr(trust, "VERIFIED", {build_of_torch().commit: "any"})
    assert trust.distrust() == ""
    assert calls == []


def test_a_cache_folder_that_cannot_be_written(unseen, tmp_path):
    calls, _ = unseen
    (tmp_path / "sardonyx").write_text("no folder")
    assert [trust.distrust(), trust.distrust()] == ["", ""]
    assert len(calls) == 1


def test_where_programs_differ_torch_export_captures(unseen, capfd):
    _, answers = unseen
    answers.append("attention: another program")
    told = exported(capfd)
    assert "fake-tensor tracing declines: it does not fit this PyTorch: attention" in told
    assert "captured by torch.export" in told
    with pytest.raises(sardonyx.CaptureError, match="attention: another program"):
        sardonyx.export(Small(), (torch.randn(3, 4),), capture="quick")
    assert features()[0] == ("fake-tensor tracing", False, "attention: another program")


def test_without_the_modules_that_it_needs(monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "sardonyx._torch_private.non_strict", None)
    assert "does not fit this PyTorch" in exported(capfd)


@pytest.mark.parametrize(
    ("probe", "name"),
    [
        (questions.CONSTANTS, "ShapeEnv._set_replacement"),
        (questions.QUESTIONS, "ShapeEnv._log_guard"),
        (questions.CHECKS, "SymNode.expect_true"),
        (questions.TRUTHS, "SymNode.ge"),
        (questions.ANSWERS, "uninteresting_files"),
        (torch_export.SIZES_ONE, "backed_size_oblivious"),
        (operators.SHAPES_OF_OTHERS, "op_implementations_dict"),
    ],
)
@pytest.mark.parametrize("capture", ["auto", "quick"])
def test_without_a_name_the_rest_works(monkeypatch, capfd, probe, name, capture):
    found = probing.lookup

    def lookup(module, *names):
        if ".".join(names) == name:
            raise probing.MissingError(f"this PyTorch has no {module}.{name}")
        return found(module, *names)

    monkeypatch.setattr(probing, "lookup", lookup)
    told = exported(capfd, capture=capture)
    assert probe.name in {each.name for each in features() if not each.available}
    if probe is not torch_export.SIZES_ONE:  # which this model does not ask for
        assert f"without {probe.name}" in told


def test_nothing_raises_inside_of_what_pytorch_calls(monkeypatch, capfd):
    def names_of_sizes(env, symbols):
        raise TypeError("a ShapeEnv of another kind")

    monkeypatch.setattr(questions, "names_of_sizes", names_of_sizes)

    class Fixes(torch.nn.Module):
        def forward(self, x):
            return x + torch.ones(3, 4)

    for capture in ("auto", "quick"):
        vars(questions.CONSTANTS).pop("reason", None)
        x = torch.randn(3, 4)
        program = sardonyx.export(Fixes(), (x,), dynamic_shapes=({0: Dim.AUTO},), capture=capture)
        torch.testing.assert_close(torch.as_tensor(program(x)[0]), x + 1)
        assert questions.CONSTANTS.reason == "TypeError: a ShapeEnv of another kind"


def test_the_answer_is_asked_again_after_a_change_of_the_tracer():
    names = {file.name for file in trust._sources()}
    assert {"tracer.py", "trust.py", "tensor_len.py", "non_strict.py"} <= names


def test_an_error_of_ours_leaves_the_model_to_torch_export(monkeypatch, capfd):
    from sardonyx._torch_private import non_strict

    def given(*args, **kwargs):
        raise TypeError("of() takes other arguments")

    assert trust.distrust() == ""  # decided before, as the small programs would fail, too
    monkeypatch.setattr(non_strict.FakeInputs, "of", given)
    told = exported(capfd)
    assert "fake-tensor tracing declines: TypeError: of() takes other arguments" in told
    assert "captured by torch.export" in told

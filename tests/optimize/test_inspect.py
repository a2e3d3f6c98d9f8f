"""`sardonyx inspect` of models: a summary, differences, a page."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import onnx
import pytest
import torch
from onnx import numpy_helper

import sardonyx
from tests.harness.command import run_command
from tests.optimize.models import layered


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    onnx.save(layered(), path)
    return path


def inspected(*words: str | Path) -> dict:
    told = json.loads(run_command("inspect", *words, "--json").stdout)
    assert told["ok"]
    return told


def test_a_summary(path: Path) -> None:
    shown = run_command("inspect", path).stdout
    assert "opset 17 of ONNX" in shown
    assert "x: float32[batch, 64]" in shown
    assert "dynamic dims: batch" in shown
    assert "weights and constants: 4, 33.3 kB" in shown
    assert re.search(r"MatMul +2\n", shown)
    # Modules by the names of nodes, which are paths.
    assert re.search(r"layer\.0 +3 nodes +16\.6 kB\n", shown)
    assert "Identity" in run_command("inspect", path, "--graph").stdout


def test_a_summary_as_json(path: Path) -> None:
    told = inspected(path)
    assert told["opsets"] == {"": 17}
    assert told["inputs"] == [{"name": "x", "dtype": "float32", "shape": ["batch", 64]}]
    assert told["dynamic_dims"] == ["batch"]
    assert told["weights"] == {"count": 4, "bytes": {"float32": 33280}}
    assert told["nodes"] == 7
    assert {"name": "MatMul", "count": 2} in told["operators"]
    names = [module["path"] for module in told["modules"]["modules"]]
    assert names == ["layer.0", "layer.1"]


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 8)
        self.second = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


def test_modules_of_an_export(tmp_path: Path) -> None:
    model = torch.nn.Sequential(Block(), Block())
    path = tmp_path / "model.onnx"
    sardonyx.export(model, (torch.randn(2, 8),)).save(path)
    [first, second] = inspected(path)["modules"]["modules"]
    assert (first["path"], second["path"]) == ("0", "1")
    assert first["type"].endswith("Block")
    assert [child["path"] for child in first["modules"]] == ["0.first", "0.second"]
    assert first["weight_bytes"] == 2 * (64 + 8) * 4


def test_no_differences(path: Path, tmp_path: Path) -> None:
    assert run_command("inspect", path, "--diff", path).stdout == "no differences\n"
    assert inspected(path, "--diff", path)["same"]


def test_differences(path: Path, tmp_path: Path) -> None:
    model = layered()
    model.opset_import[0].version = 18
    del model.graph.node[2:3]
    model.graph.node[2].input[0] = "s0"
    model.graph.node[-1].op_type = "LeakyRelu"
    model.graph.node[-1].attribute.append(onnx.helper.make_attribute("alpha", 0.5))
    weight = numpy_helper.to_array(model.graph.initializer[1]) + 1
    model.graph.initializer[1].CopyFrom(numpy_helper.from_array(weight, "layer.0.b"))
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    other = tmp_path / "other.onnx"
    onnx.save(model, other)
    told = inspected(path, "--diff", other)
    assert told["nodes"] == [7, 6]
    assert told["opsets"] == [{"name": "ONNX", "a": "17", "b": "18"}]
    assert {"name": "Identity", "a": "2", "b": "1"} in told["operators"]
    assert told["outputs"] == [{"name": "y", "a": "float32[batch, 64]", "b": "float32[rows, 64]"}]
    assert told["weights"] == [{"name": "layer.0.b", "a": "data", "b": "other data"}]
    assert {"name": "/Relu.operator", "a": "Relu", "b": "LeakyRelu"} in told["attributes"]
    assert {"name": "/Relu.alpha", "a": None, "b": "0.5"} in told["attributes"]
    shown = run_command("inspect", path, "--diff", other).stdout
    assert "/Relu.alpha: none -> 0.5" in shown


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.scripts:
            self.scripts[-1] += data


def test_a_page_of_its_own(path: Path, tmp_path: Path) -> None:
    model = onnx.load(path)
    model.graph.node[0].name = "/layer.0/</script><b>"
    onnx.save(model, path)
    out = tmp_path / "page.html"
    assert run_command("inspect", path, "--html", out).returncode == 0
    page = Page(out.read_text(encoding="utf-8"))
    assert page.addresses == []
    data = json.loads(page.scripts[0])
    [shown] = data["models"]
    text = data["texts"]
    assert [text[node[0]] for node in shown["nodes"]][:3] == ["MatMul", "Add", "Identity"]
    assert text[shown["nodes"][0][1]] == "/layer.0/</script><b>"
    assert "layer.1" in [text[group[2]] for group in shown["groups"]]
    assert "http" not in page.scripts[1].replace("http://www.w3.org/2000/svg", "")


def test_a_page_of_two_models_with_measures(path: Path, tmp_path: Path) -> None:
    model = onnx.load(path)
    model.graph.node[-1].op_type = "LeakyRelu"
    onnx.save(model, tmp_path / "other.onnx")
    times = tmp_path / "times.json"
    times.write_text(json.dumps({"title": "time", "unit": "ms", "nodes": {"/Relu": 0.5}}))
    out = tmp_path / "page.html"
    words = ("diff", path, tmp_path / "other.onnx", "--html", out, "--measures", times)
    assert run_command(*words).returncode == 0
    data = json.loads(Page(out.read_text(encoding="utf-8")).scripts[0])
    assert len(data["models"]) == 2
    assert data["measures"][0]["nodes"][-1] == 0.5
    # Other operators under one name: the values that they give are the same.
    assert data["alignment"]["states"][0] == "1111112"
    assert data["alignment"]["changes"]["6"] == ["operator: Relu → LeakyRelu"]
    times.write_text("{}")
    assert "SX1001" in run_command(*words).stderr


def test_a_page_that_cannot_be_written(path: Path, tmp_path: Path) -> None:
    done = run_command("inspect", path, "--html", tmp_path / "missing" / "page.html")
    assert done.returncode == 1
    assert "SX1601" in done.stderr


def test_measures_of_another_model_are_an_error(path: Path, tmp_path: Path) -> None:
    times = tmp_path / "times.json"
    times.write_text('{"title": "time", "nodes": {"of another model": 0.5}}')
    out = tmp_path / "page.html"
    run = run_command("inspect", path, "--html", out, "--measures", times)
    assert run.returncode == 1
    assert 'the measures "time" have no number of a node of this model' in run.stderr
    assert not out.exists()
    run = run_command("inspect", path, "--measures", times)
    assert run.returncode == 2
    assert "--measures requires --html" in run.stderr

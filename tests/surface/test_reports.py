"""Markdown, HTML and SARIF reports, and what options make of diagnostics."""

from __future__ import annotations

import json
import logging
import os
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

import sardonyx

from .sarif_schema import complaints


class Inner(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(16, 16)

    def forward(self, x):
        return self.fc(x).relu()


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Inner(), Inner()])
        self.head = torch.nn.Linear(16, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


X = torch.randn(3, 16)


@torch.library.custom_op("sardonyx_reports::nothing", mutates_args=())
def nothing(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@nothing.register_fake
def _(x):
    return torch.empty_like(x)


class Unsupported(torch.nn.Module):
    def forward(self, x):
        return nothing(x) + nothing(x * 2)


def written(folder: Path, ending: str) -> str:
    (path,) = folder.glob(f"*.{ending}")
    return path.read_text(encoding="utf-8")


class Page(HTMLParser):
    """Tags that close each other, and what they hold."""

    VOID = frozenset({"meta", "rect"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_a_report_of_success(tmp_path: Path) -> None:
    sardonyx.export(Outer(), (X,), report=True, verify=True, profile=True, artifacts_dir=tmp_path)
    text = written(tmp_path, "md")
    for line in (
        "# Export to ONNX: succeeded",
        "| capture | ✅ |",
        "## Accuracy",
        "## Weights by module",
        "| blocks.0.fc |",
        "## Profile",
        "cumtime",
        "## Environment",
        "- torch ",
    ):
        assert line in text, line
    page = Page(html := written(tmp_path, "html"))
    assert "svg" in page.seen
    assert not page.links  # nothing beside the page
    assert "script" not in page.seen
    assert "<title>blocks.0.fc.weight: 1.0 kB</title>" in html
    assert "Accuracy" in html
    log = json.loads(written(tmp_path, "sarif"))
    assert complaints(log) == []
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is True


def test_a_report_of_failure(tmp_path: Path) -> None:
    with pytest.raises(sardonyx.UnsupportedOperatorError):
        sardonyx.export(Unsupported(), (X,), report=True, artifacts_dir=tmp_path)
    text = written(tmp_path, "md")
    assert "# Export to ONNX: failed" in text
    assert "## Operators without a translation" in text
    assert "- `sardonyx_reports::nothing`: 2 calls" in text
    assert Path(__file__).name in text
    Page(html := written(tmp_path, "html"))
    assert "sardonyx_reports::nothing" in html
    log = json.loads(written(tmp_path, "sarif"))
    assert complaints(log) == []
    (run,) = log["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["SX1300", "SX1300"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert "custom_translation_table" in rule["help"]["text"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == Path(__file__).as_uri()
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert "nothing(x)" in lines[place["region"]["startLine"] - 1]


def test_the_schema_finds_what_is_wrong() -> None:
    assert len(complaints({"version": "2.0.0", "runs": [{"results": 3}]})) == 3


def test_text_of_users_is_escaped(tmp_path: Path) -> None:
    class Wrong(torch.nn.Module):
        def forward(self, x):
            raise ValueError("<script>alert('|')</script>")

    with pytest.raises(sardonyx.CaptureError):
        sardonyx.export(Wrong(), (X,), report=True, artifacts_dir=tmp_path)
    assert "script" not in Page(written(tmp_path, "html")).seen
    assert complaints(json.loads(written(tmp_path, "sarif"))) == []


def test_sarif_from_the_command_line(tmp_path: Path) -> None:
    program = torch.export.export(Unsupported(), (X,))
    torch.export.save(program, tmp_path / "model.pt2")
    command = Path(os.environ["SARDONYX_BUILD"]) / "bin" / "sardonyx"
    log = tmp_path / "log.sarif"
    run = subprocess.run(
        [command, "convert", tmp_path / "model.pt2", "-o", tmp_path / "m.onnx", "--sarif", log],
        capture_output=True,
        check=False,
    )
    assert run.returncode == 1
    found = json.loads(log.read_text(encoding="utf-8"))
    assert complaints(found) == []
    assert found["runs"][0]["results"][0]["ruleId"] == "SX1300"
    missing = [command, "convert", "none.pt2", "-o", "m.onnx", "--sarif", "/none/log.sarif"]
    run = subprocess.run(missing, capture_output=True, check=False)
    assert run.returncode == 1
    assert b"SX1601" in run.stderr


def test_a_report_from_the_command_line(tmp_path: Path) -> None:
    program = torch.export.export(Unsupported(), (X,))
    torch.export.save(program, tmp_path / "model.pt2")
    command = Path(os.environ["SARDONYX_BUILD"]) / "bin" / "sardonyx"
    page, log = tmp_path / "report.md", tmp_path / "log.sarif"
    arguments = [command, "convert", tmp_path / "model.pt2", "-o", tmp_path / "m.onnx"]
    arguments += ["--report", page, "--sarif", log]
    run = subprocess.run(arguments, capture_output=True, check=False)
    assert run.returncode == 1
    text = page.read_text(encoding="utf-8")
    for line in ("failed", "| read | ✅ |", "## What is wrong", "| SX1300 |", Path(__file__).name):
        assert line in text, line
    # Kept as they are, the operators are notes.
    run = subprocess.run([*arguments, "--fall-through", "as-is"], capture_output=True, check=False)
    assert run.returncode == 0
    assert b"SX1311" in run.stderr
    text = page.read_text(encoding="utf-8")
    for line in ("succeeded", "| write | ✅ |", "## Notes", "| sardonyx_reports::nothing | 2 |"):
        assert line in text, line
    results = json.loads(log.read_text(encoding="utf-8"))["runs"][0]["results"]
    assert [(result["ruleId"], result["level"]) for result in results] == [("SX1311", "note")] * 2
    arguments[-3] = "/none/report.md"
    run = subprocess.run(arguments, capture_output=True, check=False)
    assert run.returncode == 1
    assert b"SX1601" in run.stderr


def test_diagnostic_options(caplog: pytest.LogCaptureFixture) -> None:
    note = sardonyx.Diagnostic("SX1310", "decomposed", severity="note")
    warning = sardonyx.Diagnostic("SX1008", "specialized", severity="warning")
    with caplog.at_level(logging.DEBUG, logger="sardonyx"):
        sardonyx.DiagnosticOptions().honour([note, warning])
        assert [record.levelno for record in caplog.records] == [logging.INFO, logging.WARNING]
        caplog.clear()
        sardonyx.DiagnosticOptions(verbosity_level=logging.WARNING).honour([note, warning])
        assert [record.levelno for record in caplog.records] == [logging.WARNING]
    strict = sardonyx.DiagnosticOptions(warnings_as_errors=True)
    strict.honour([note])
    with pytest.raises(sardonyx.OnnxExporterError, match="specialized") as caught:
        strict.honour([note, warning])
    assert caught.value.diagnostics == (warning,)


def test_dynamo_export_that_fails_writes_sarif(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with (
        pytest.warns(DeprecationWarning, match="dynamo_export"),
        pytest.raises(sardonyx.UnsupportedOperatorError) as failure,
    ):
        sardonyx.dynamo_export(Unsupported(), X)
    assert any("report_dynamo_export.sarif" in note for note in failure.value.__notes__)
    log = json.loads(written(tmp_path, "sarif"))
    assert complaints(log) == []
    assert len(log["runs"][0]["results"]) == 2


def test_dynamo_export_without_warnings_goes_through() -> None:
    class Squeezed(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.silu(x)

    options = sardonyx.ExportOptions(
        diagnostic_options=sardonyx.DiagnosticOptions(warnings_as_errors=True)
    )
    with pytest.warns(DeprecationWarning, match="dynamo_export"):
        program = sardonyx.dynamo_export(Squeezed(), X, export_options=options)
    assert program.output_names

"""Releases outside of the tested ranges, and packages that do not fit together."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sardonyx._base import versions
from sardonyx._base.tested_versions import TESTED
from tests.harness.rotation import long_test

EXPORT = "sardonyx.export(torch.nn.Linear(2, 2), (torch.rand(1, 2),))"


def pretend(folder: Path, package: str, version: str, *requires: str) -> None:
    """Metadata of a package, which is found before that of the installed one."""
    lines = ["Metadata-Version: 2.1", f"Name: {package}", f"Version: {version}"]
    lines += [f"Requires-Dist: {each}" for each in requires]
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *words],
        env=os.environ | {"PYTHONPATH": path, "PYTHONWARNINGS": ""},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def doctor(folder: Path) -> dict[str, Any]:
    """What doctor finds, by subject; conflicts by theirs."""
    findings = json.loads(ran(folder, "-m", "sardonyx", "doctor", "--json").stdout)["findings"]
    return {each["subject"]: each for each in findings}


def beyond(package: str) -> str:
    """The minor release after the newest tested one."""
    major, minor = TESTED[package][1].split(".")[:2]
    return f"{major}.{int(minor) + 1}.0"


@long_test(0)
def test_doctor_names_the_releases_that_were_tested(tmp_path: Path) -> None:
    packages = sorted(set(TESTED) - {"python"})
    for package in packages:
        pretend(tmp_path, package, beyond(package))
    findings = doctor(tmp_path)
    for package in packages:
        found = findings[package]
        assert found["state"] == "untested"
        assert beyond(package) in found["text"]
        assert re.fullmatch(rf"pip install '{package}>=[\d.]+,<[\d.]+'", found["help"])


def test_patch_releases_count_as_their_minor_release() -> None:
    major, minor = TESTED["torch"][1].split(".")[:2]
    assert versions.is_tested("torch", f"{major}.{minor}.99")
    assert versions.is_tested("torch", f"{major}.{minor}.0+cu130")
    assert not versions.is_tested("torch", f"{major}.{int(minor) + 1}.0a0+git1")
    assert not versions.is_tested("torch", "1.13.1")


@long_test(1)
def test_an_untested_torch_is_warned_of_once(tmp_path: Path) -> None:
    pretend(tmp_path, "torch", beyond("torch"))
    ended = ran(tmp_path, "-W", "always", "-c", f"import torch, sardonyx\n{EXPORT}\n{EXPORT}")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("UntestedReleaseWarning") == 1
    assert f"torch {beyond('torch')} is not among the tested releases" in ended.stderr
    assert "<string>:2: " in ended.stderr  # where the user calls


@long_test(2)
def test_a_command_prints_one_line_for_an_untested_release(tmp_path: Path) -> None:
    for package in ("torch", "transformers"):
        pretend(tmp_path, package, beyond(package))
    ended = ran(tmp_path, "-m", "sardonyx", "hf", str(tmp_path), "-o", "out")
    assert ended.returncode == 1  # it is no checkpoint
    lines = [line for line in ended.stderr.splitlines() if "not among the tested" in line]
    assert [line.split()[:2] for line in lines] == [
        ["warning:", "torch"], ["warning:", "transformers"]
    ]  # fmt: skip
    assert "packages.py" not in ended.stderr


@long_test(3)
def test_the_warning_has_a_category_of_its_own(tmp_path: Path) -> None:
    pretend(tmp_path, "torch", beyond("torch"))
    code = (
        "import warnings, torch, sardonyx\n"
        "warnings.simplefilter('ignore', sardonyx.errors.UntestedReleaseWarning)\n" + EXPORT
    )
    assert "Untested" not in ran(tmp_path, "-c", code).stderr


@long_test(1)
def test_doctor_names_packages_that_do_not_fit(tmp_path: Path) -> None:
    """What an extra requires counts where the extra is for what both do."""
    different = {
        "transformers": ("5.24.0", 'torch>=97; extra == "torch"', "torch"),
        "onnxscript": ("0.7.2", "onnx_ir<0.2,>=0.1", "onnx_ir"),
        "torchvision": ("0.99.0", "torch==97.0.0", "torch"),
    }
    for package, (version, requirement, _) in different.items():
        pretend(tmp_path, package, version, requirement)
    pretend(tmp_path, "diffusers", "0.40.0", 'torch>=97; extra == "testing"')
    findings = json.loads(ran(tmp_path, "-m", "sardonyx", "doctor", "--json").stdout)["findings"]
    conflicts = {each["subject"]: each for each in findings if each["state"] == "conflict"}
    assert set(conflicts) == set(different)
    for package, (version, _, other) in different.items():
        assert f"{package} {version} needs {other}" in conflicts[package]["text"]
        assert conflicts[package]["help"].startswith(f"pip install '{other}")


@long_test(2)
def test_a_torchvision_of_another_build_is_named(tmp_path: Path) -> None:
    pretend(tmp_path, "torchvision", "0.28.0", "torch")
    (tmp_path / "torchvision.py").write_text(
        "raise RuntimeError('operator torchvision::nms does not exist')", encoding="utf-8"
    )
    found = doctor(tmp_path)["torchvision"]
    assert found["state"] == "conflict"
    assert "operator torchvision::nms does not exist" in found["text"]
    assert "torchvision==0.28.0" in found["help"]


@long_test(3)
def test_checkpoints_need_a_torch_that_transformers_takes(tmp_path: Path) -> None:
    pretend(tmp_path, "transformers", "5.23.0", 'torch>=97; extra == "torch"')
    ended = ran(tmp_path, "-m", "sardonyx", "hf", ".", "-o", "out")
    assert ended.returncode == 2
    assert "transformers 5.23.0 needs torch>=97, and torch" in ended.stderr
    assert "pip install 'torch>=97'" in ended.stderr


def test_a_package_that_does_not_load_is_told_from_one_that_is_missing(tmp_path: Path) -> None:
    pretend(tmp_path, "onnxruntime", "1.31.0", "numpy>=97")
    (tmp_path / "onnxruntime.py").write_text("raise ImportError('no such symbol')")
    model = Path(__file__).parent / "none.onnx"
    ended = ran(tmp_path, "-m", "sardonyx", "run", str(model), "--random")
    assert "1.31.0 cannot be imported: no such symbol" in ended.stderr
    assert "onnxruntime 1.31.0 needs numpy>=97" in ended.stderr
    assert "pip install 'numpy>=97'" in ended.stderr


def test_a_feature_that_torch_lacks_something_for_is_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sardonyx._cli import doctor as command
    from sardonyx._torch_private import features

    lacking = features.Feature("fake-tensor tracing", False, "torch has no FakeTensorMode")
    monkeypatch.setattr(features, "features", lambda: [lacking])
    found = [each for each in command.examine() if each.state == "disabled"]
    assert found == [command.Finding("disabled", "fake-tensor tracing", lacking.reason)]


def test_requirements_are_those_that_hold_with_the_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [
        "huggingface_hub<3.0,>=1.31.0",
        'torch>=2.6; extra == "torch"',
        'torch>=2.7; extra == "serving"',
        'numpy>=9; python_version < "3"',
        "safetensors",
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: lines)
    others = ("torch", "huggingface-hub", "numpy", "safetensors")
    assert versions.required("pytest", others) == ["torch>=2.6", "huggingface_hub<3.0,>=1.31.0"]
    assert versions.required("no-such-package", others) == []


@long_test(0)
def test_a_torch_without_a_name_of_tracing_still_exports() -> None:
    """Fake-tensor tracing alone imports these names: it is off, and torch.export captures. What
    torch.export does not capture is an error that names the feature."""
    code = (
        "import sys, torch, sardonyx\n"
        "sys.modules['sardonyx._torch_private.modes'] = None\n" + EXPORT + "\n"
        "from sardonyx._torch_private.features import missed\n"
        "print([each.name for each in missed()])\n"
        "class Branch(torch.nn.Module):\n"
        "    def forward(self, x): return x + 1 if x.sum() > 0 else x - 1\n"
        "try: sardonyx.export(Branch(), (torch.ones(2),))\n"
        "except sardonyx.errors.CaptureError as error: print(error)"
    )
    ended = ran(Path(), "-c", code)
    assert ended.returncode == 0, ended.stderr
    assert "'fake-tensor tracing'" in ended.stdout.splitlines()[0]
    assert "this PyTorch does not allow fake-tensor tracing: " in ended.stdout

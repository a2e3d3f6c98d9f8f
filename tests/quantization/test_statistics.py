"""Statistics of parts merge to those of the whole; the commands that write and take them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

import sardonyx
from tests.harness.command import run_command
from tests.harness.json_output import told
from tests.viewer.test_page import data_of

from .test_quantize import residual_model, samples


def test_parts_merge_to_the_bytes_of_the_whole() -> None:
    model, data = residual_model(), samples(6)
    data[4] *= 1000  # other bins than the rest
    whole = sardonyx.calibrate(model, data)
    parts = [sardonyx.calibrate(model, data[i::3]) for i in (2, 0, 1)]
    read = [sardonyx.Statistics.from_bytes(each.to_bytes()) for each in parts]
    merged = read[0].merge(read[1]).merge(read[2])
    assert merged.to_bytes() == whole.to_bytes()
    assert merged.samples == 6


def test_values_are_observed_in_groups_within_a_limit() -> None:
    model, data = residual_model(), samples(3)
    whole = sardonyx.calibrate(model, data)
    parts = sardonyx.calibrate(model, data, memory=9_000)
    assert parts.to_bytes() == whole.to_bytes()
    assert parts.samples == 3
    with pytest.raises(sardonyx.UsageError, match="an iterator gives them once"):
        sardonyx.calibrate(model, iter(data), memory=9_000)


def test_every_kind_of_samples_gives_the_same(tmp_path: Path) -> None:
    model, data = residual_model(), samples(3)
    whole = np.concatenate(data)
    labels = torch.arange(3)
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(whole), labels)
    for name, each in enumerate(data):
        np.save(tmp_path / f"{name}.npy", each)
    script = tmp_path / "load_samples.py"
    script.write_text(
        "from pathlib import Path\nimport numpy as np\n\ndef load():\n"
        "    for file in sorted(Path(__file__).parent.glob('*.npy')):\n"
        "        yield {'x': np.load(file)}\n"
    )
    expected = sardonyx.calibrate(model, data).to_bytes()
    kinds = [
        {"x": whole}, dataset, torch.utils.data.DataLoader(dataset), f"{script}:load",
    ]  # fmt: skip
    for each in kinds:
        assert sardonyx.calibrate(model, each).to_bytes() == expected
    script.unlink()
    assert sardonyx.calibrate(model, tmp_path).to_bytes() == expected


def test_damaged_statistics_are_rejected() -> None:
    text = sardonyx.calibrate(residual_model(), samples(1)).to_bytes()
    broken = json.loads(text)
    next(iter(broken["values"].values()))["counts"].append(1)
    for each in (text[:-20], b"{}", json.dumps(broken).encode()):
        with pytest.raises(sardonyx.OnnxExporterError, match="SX1832"):
            sardonyx.Statistics.from_bytes(each)


def test_commands(tmp_path: Path) -> None:
    model, out = tmp_path / "m.onnx", tmp_path / "q.onnx"
    onnx.save(residual_model(), model)
    stats = []
    for part in range(2):
        np.savez(tmp_path / f"{part}.npz", x=np.concatenate(samples(3, seed=part)))
        stats.append(tmp_path / f"{part}.json")
        done = run_command(
            "calibrate", model, "--data", tmp_path / f"{part}.npz", "-o", stats[part], "--json"
        )
        assert told(done.stdout, "calibrate")["samples"] == 3
    done = run_command("quantize", model, "--stats", *stats, "-o", out, "--json")
    report = told(done.stdout, "quantize")
    assert report["samples"] == 6
    assert report["snr"] is None
    onnx.checker.check_model(str(out), full_check=True)

    errors = tmp_path / "errors.json"
    run_command("quantize", model, "--data", tmp_path / "0.npz", "-o", out, "--measures", errors)
    assert len(json.loads(errors.read_text())["nodes"]) == 3
    page = tmp_path / "page.html"
    assert not run_command("inspect", out, "--html", page, "--measures", errors).returncode
    (measure,) = data_of(page.read_text())["measures"]
    assert measure["title"] == "error of quantization"
    assert sum(each is not None for each in measure["nodes"]) == 3
    assert all("weight error" in note for note in measure["notes"].values())

    words = ("--data", tmp_path / "0.npz", "-o", out, "--measures", errors, "--keep", "stem")
    assert not run_command("quantize", model, *words).returncode
    assert not run_command("inspect", out, "--html", page, "--measures", errors).returncode
    (measure,) = data_of(page.read_text())["measures"]
    reasons = [note for note in measure["notes"].values() if "float" in note]
    assert reasons == ["stays in float: it is to be kept"]

    done = run_command("quantize", out, "--data", tmp_path / "0.npz", "-o", tmp_path / "again.onnx")
    assert done.returncode == 1
    assert "SX1831" in done.stderr
    assert not (tmp_path / "again.onnx").exists()

"""Runs the examples: make test-examples."""

from __future__ import annotations

import http.client
import importlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _beside_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE / "python"))
    monkeypatch.chdir(tmp_path)


def example(name: str) -> Any:
    return importlib.import_module(name)


def test_serving() -> None:
    serve = example("serve")
    serve.export(Path("served.onnx"))
    model = serve.Model(Path("served.onnx"))
    server = serve.server(model, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        for body, status in (("[[0, 1, 2, 3], [4, 5, 6, 7]]", 200), ("[[1, 2]]", 400)):
            connection = http.client.HTTPConnection(*server.server_address, timeout=30)
            connection.request("POST", "/", body)
            answer = connection.getresponse()
            assert answer.status == status
            told = json.loads(answer.read())
            assert (len(told) == 2) if status == 200 else ("4 numbers" in told["error"])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_service_of_fastapi() -> None:
    pytest.importorskip("fastapi", reason="make test-examples installs it")
    pytest.importorskip("httpx", reason="make test-examples installs it")
    from fastapi.testclient import TestClient  # type: ignore[import-not-found, unused-ignore]

    client = TestClient(example("fastapi_service").app)
    assert len(client.post("/", json=[[0.0, 1.0, 2.0, 3.0]]).json()[0]) == 3
    assert client.post("/", json=[[0.0]]).status_code == 400


@pytest.mark.parametrize("size", [(32, 32), (72, 40)])
def test_detection(size: tuple[int, int]) -> None:
    detection = example("detection")
    program = detection.main("detector.onnx")
    onnx.checker.check_model("detector.onnx", full_check=True)
    torch.manual_seed(0)
    model = detection.Detector().eval()  # the weights of main(), by the same seed
    image = torch.randn(1, 3, *size)
    expected = model(image)
    assert 0 < len(expected[1]) < size[0] * size[1] // 64  # some are kept, not all
    torch.testing.assert_close(tuple(program(image)), expected, rtol=1e-4, atol=1e-4)


def test_an_operator_with_a_kernel_of_its_own() -> None:
    pytest.importorskip("onnxruntime_extensions", reason="make test-examples installs it")
    model, session = example("custom_operator").main("custom.onnx")
    for rows in (torch.randn(1, 4), torch.randn(7, 4)):
        (answer,) = session.run(None, {"x": rows.numpy()})
        torch.testing.assert_close(torch.from_numpy(answer), model(rows))


def test_speech() -> None:
    model, program = example("speech").main("speech.onnx")
    onnx.checker.check_model("speech.onnx", full_check=True)
    for sound in (torch.randn(1, 1000), torch.randn(3, 6401)):
        torch.testing.assert_close(program(sound)[0], model(sound), rtol=1e-3, atol=1e-3)


def test_a_larger_model_is_refused() -> None:
    serve = example("serve")
    serve.export(Path("base.onnx"))
    grown = onnx.load("base.onnx")
    grown.doc_string = "x" * 10_000
    onnx.save(grown, "grown.onnx")

    def compared(model: str) -> subprocess.CompletedProcess[str]:
        words = ["base.onnx", model, "--time", "1000", "--repeat", "2"]
        return subprocess.run(
            [sys.executable, HERE / "github-action" / "compare.py", *words],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    same, larger = compared("base.onnx"), compared("grown.onnx")
    assert (same.returncode, larger.returncode) == (0, 1), same.stderr + larger.stderr
    assert "at most 1.02" in larger.stdout

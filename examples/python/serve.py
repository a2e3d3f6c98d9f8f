"""Exports a model, and answers requests with it in ONNX Runtime: serve.py [PORT]

    curl -d '[[0, 1, 2, 3]]' http://127.0.0.1:8000/

Export once, where PyTorch is; `Model` needs nothing but ONNX Runtime and NumPy.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime


def export(path: Path) -> None:
    """Writes a model whose batch may be of any size."""
    import torch

    import sardonyx

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    sardonyx.export(
        model.eval(), (torch.randn(2, 4),), path, dynamic_shapes=[{0: "batch"}], verify=True
    )


class Model:
    """A session, which any number of threads may use."""

    def __init__(self, path: Path) -> None:
        self._session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0]

    def __call__(self, rows: Any) -> list[list[float]]:
        """Answers for rows of numbers; ValueError for anything else."""
        x = np.asarray(rows, np.float32)
        if x.ndim != 2 or x.shape[1] != self._input.shape[1]:
            raise ValueError(f"rows of {self._input.shape[1]} numbers are wanted, got {x.shape}")
        return np.asarray(self._session.run(None, {self._input.name: x})[0]).tolist()


def server(model: Model, port: int) -> ThreadingHTTPServer:
    """Answers POST with JSON."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = 200, json.dumps(model(json.loads(body)))
            except (ValueError, TypeError) as error:
                status, answer = 400, json.dumps({"error": str(error)})
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(answer.encode())

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    target = Path("served.onnx")
    export(target)
    server(Model(target), int(sys.argv[1]) if len(sys.argv) > 1 else 8000).serve_forever()

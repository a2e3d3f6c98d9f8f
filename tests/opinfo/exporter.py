"""The exporter under test, behind one function."""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tests.opinfo.capture import Captured, free_dims


@dataclass
class Refused(Exception):
    """The exporter said that it cannot express the program, and why."""

    code: str
    reason: str
    op: str = ""

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


class Exporter:
    """Turns a captured program into the bytes of an ONNX model."""

    needs_program = True  # a live ExportedProgram; otherwise a saved one does

    def identity(self) -> str:
        """Names the build under test: results of different builds are never mixed."""
        raise NotImplementedError

    def convert(self, captured: Captured, opset: int) -> bytes:
        """Raises Refused; any other exception is a defect of the exporter."""
        raise NotImplementedError


class Sardonyx(Exporter):
    """The Python package, on a live ExportedProgram."""

    def __init__(self) -> None:
        self._package = importlib.import_module("sardonyx")

    def identity(self) -> str:
        digest = hashlib.sha1()
        for folder in self._package.__path__:
            for path in sorted(Path(folder).rglob("*")):
                if path.suffix in {".so", ".py"}:
                    digest.update(path.read_bytes())
        return f"sardonyx-{digest.hexdigest()[:12]}"

    def convert(self, captured: Captured, opset: int) -> bytes:
        return self.converted(self._package.export, captured.exported(), opset)

    def converted(self, function: Callable[..., Any], source: object, opset: int) -> bytes:
        options = {"opset_version": opset} if opset else {}
        try:
            model = function(source, **options)
        except self._package.OnnxExporterError as error:
            raise _refusal([vars(d) for d in error.diagnostics], str(error)) from error
        buffer = io.BytesIO()
        model.save(buffer)
        return buffer.getvalue()


class File(Sardonyx):
    """The Python package, on a saved program: several times faster, as torch need not load it."""

    needs_program = False

    def identity(self) -> str:
        return f"file-{super().identity()}"

    def convert(self, captured: Captured, opset: int) -> bytes:
        if not captured.saved():
            return super().convert(captured, opset)
        with tempfile.NamedTemporaryFile(suffix=".pt2") as file:
            file.write(captured.archived())
            file.flush()
            return self.converted(self._package.convert, file.name, opset)


class Trace(Sardonyx):
    """The Python package, on the live module as torch.jit.trace records it."""

    def identity(self) -> str:
        return f"trace-{super().identity()}"

    def convert(self, captured: Captured, opset: int) -> bytes:
        live = captured.live
        assert live is not None
        shapes = {"tensors": free_dims(captured.exported())} if live.dynamic else None

        def traced(module: torch.nn.Module, **options: Any) -> Any:
            inputs = tuple(tensor.clone() for tensor in live.tensors)
            return self._package.export(
                module, inputs, dynamic_shapes=shapes, capture="trace", **options
            )

        return self.converted(traced, live.module, opset)


class Command(Exporter):
    """The command line, on a .pt2 file: the same library without Python."""

    needs_program = False

    def __init__(self) -> None:
        build = os.environ.get("SARDONYX_BUILD", "build")
        self._command = os.environ.get("SARDONYX_COMMAND", f"{build}/bin/sardonyx")

    def identity(self) -> str:
        digest = hashlib.sha1(Path(self._command).read_bytes())
        return f"command-{digest.hexdigest()[:12]}"

    def convert(self, captured: Captured, opset: int) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder, "model.pt2"), Path(folder, "model.onnx")
            if not captured.saved():
                raise Refused("unsaved", "torch.export cannot save the program")
            source.write_bytes(captured.archived())
            words = [self._command, "convert", str(source), "-o", str(target), "--json"]
            words += ["--opset", str(opset)] if opset else []
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return target.read_bytes()
            try:
                answer = json.loads(done.stdout)
            except json.JSONDecodeError as error:
                raise RuntimeError(f"ended with {done.returncode}: {done.stderr}") from error
            raise _refusal(answer["diagnostics"], done.stderr)


class TorchOnnx(Exporter):
    """PyTorch's own exporter, for comparison."""

    def identity(self) -> str:
        import onnxscript

        return f"torch.onnx-{torch.__version__}-onnxscript-{onnxscript.__version__}"

    def convert(self, captured: Captured, opset: int) -> bytes:
        import torch.onnx

        options: dict[str, Any] = {"opset_version": opset} if opset else {}
        program = captured.exported()
        try:
            model = torch.onnx.export(program, (), dynamo=True, verbose=False, **options)
        except torch.onnx.errors.OnnxExporterError as error:
            cause = error.__cause__ or error
            reason = str(cause).splitlines()[0] if str(cause) else type(cause).__name__
            raise Refused(type(cause).__name__, reason) from error
        assert model is not None
        return bytes(model.model_proto.SerializeToString())


EXPORTERS: dict[str, type[Exporter]] = {
    "sardonyx": Sardonyx,
    "file": File,
    "trace": Trace,
    "command": Command,
    "torch.onnx": TorchOnnx,
}


def load(name: str) -> Exporter:
    return EXPORTERS[name]()


def _refusal(diagnostics: list[dict[str, Any]], text: str) -> Refused:
    """The first diagnostic of an error: the others are counted when it is cured."""
    if not diagnostics:
        return Refused("?", text.splitlines()[0] if text else "no reason")
    first = diagnostics[0]
    return Refused(str(first["code"]), str(first["message"]), str(first.get("op", "")))

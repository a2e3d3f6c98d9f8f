"""Runs a model in ONNX Runtime on PyTorch tensors of any dtype."""

from __future__ import annotations

from pathlib import Path

import onnxruntime as ort
import torch

from sardonyx._runtime.session import open_session, run

# Warnings of the runtime would bury the report of a failing test.
ort.set_default_logger_severity(3)


class Session:
    """A loaded model, with one thread and ONNX Runtime's default optimizations."""

    def __init__(self, model: bytes | str | Path, *, optimize: bool = True) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        if not optimize:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        source = model if isinstance(model, bytes) else str(model)
        self._session = open_session(source, options)
        self.inputs = [i.name for i in self._session.get_inputs()]
        self.outputs = [o.name for o in self._session.get_outputs()]
        self._declared = [(i.name, list(i.shape)) for i in self._session.get_inputs()]
        self._promised = [(o.name, list(o.shape)) for o in self._session.get_outputs()]

    def run(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Feeds `inputs` by position."""
        assert len(inputs) == len(self.inputs), (
            f"the model has {len(self.inputs)} inputs {self.inputs}, "
            f"the program {len(inputs)}: {[tuple(i.shape) for i in inputs]}"
        )
        feed = dict(zip(self.inputs, inputs, strict=True))
        results = run(self._session, feed, self.outputs)
        self._check_declared_shapes(inputs, results)
        return results

    def _check_declared_shapes(
        self, inputs: list[torch.Tensor], results: list[torch.Tensor]
    ) -> None:
        """A size that the model declares must be the size it has; a name stands for one size."""
        known: dict[str, int] = {}
        for declared, tensors in ((self._declared, inputs), (self._promised, results)):
            for (name, dims), tensor in zip(declared, tensors, strict=True):
                # Complex numbers enter and leave a model as pairs.
                shape = (*tensor.shape, 2) if tensor.is_complex() else tuple(tensor.shape)
                assert len(dims) == len(shape), f"{name} is declared {dims}: {shape}"
                for dim, size in zip(dims, shape, strict=True):
                    promised = known.setdefault(dim, size) if isinstance(dim, str) else dim
                    assert promised is None or promised == size, (
                        f"{name} is declared {dims} with {known}, and is {tuple(tensor.shape)}"
                    )

"""Runs a model in ONNX Runtime on PyTorch tensors of any dtype."""

from __future__ import annotations

import ctypes
from pathlib import Path

import onnxruntime as ort
import torch
import torch.utils.dlpack

# Warnings of the runtime would bury the report of a failing test.
ort.set_default_logger_severity(3)

# NumPy has no name for these: they pass as unsigned integers of their width, with ONNX's number.
_BY_BITS: dict[torch.dtype, tuple[torch.dtype, int]] = {
    torch.bfloat16: (torch.uint16, 16),
    torch.float8_e4m3fn: (torch.uint8, 17),
    torch.float8_e4m3fnuz: (torch.uint8, 18),
    torch.float8_e5m2: (torch.uint8, 19),
    torch.float8_e5m2fnuz: (torch.uint8, 20),
}
_BITS_OF_NAME = {
    "tensor(float8e4m3fn)": torch.float8_e4m3fn,
    "tensor(float8e4m3fnuz)": torch.float8_e4m3fnuz,
    "tensor(float8e5m2)": torch.float8_e5m2,
    "tensor(float8e5m2fnuz)": torch.float8_e5m2fnuz,
}


class Session:
    """A loaded model, with one thread and ONNX Runtime's default optimisations."""

    def __init__(self, model: bytes | str | Path, *, optimize: bool = True) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        if not optimize:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        source = model if isinstance(model, bytes) else str(model)
        self._session = ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
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
        feed = {n: _to_runtime(t) for n, t in zip(self.inputs, inputs, strict=True)}
        values = self._session.run_with_ort_values(self.outputs, feed)
        results = [_from_runtime(v) for v in values]
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


def _to_runtime(tensor: torch.Tensor) -> ort.OrtValue:
    tensor = tensor.detach().resolve_conj().resolve_neg()
    tensor = (torch.view_as_real(tensor) if tensor.is_complex() else tensor).contiguous()
    if tensor.dtype in _BY_BITS:
        bits, onnx_type = _BY_BITS[tensor.dtype]
        array = tensor.view(bits).numpy()
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, onnx_type)
    return ort.OrtValue.ortvalue_from_numpy(tensor.numpy())


def _from_runtime(value: ort.OrtValue) -> torch.Tensor:
    name = value.data_type()
    if name == "tensor(bfloat16)":
        return torch.utils.dlpack.from_dlpack(value._get_c_value().to_dlpack()).clone()
    if name in _BITS_OF_NAME:  # NumPy and DLPack of the runtime have none of these
        shape, dtype, size = value.shape(), _BITS_OF_NAME[name], value.tensor_size_in_bytes()
        content = bytearray(ctypes.string_at(value.data_ptr(), size))
        return (
            torch.frombuffer(content, dtype=dtype).reshape(shape)
            if size
            else torch.empty(shape, dtype=dtype)
        )
    array = value.numpy()
    # A uint64 may be C's `unsigned long long`, which torch does not know by that name.
    return torch.from_numpy(array.astype(array.dtype.str))

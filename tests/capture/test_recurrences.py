"""Recurrences that libraries spell out in Python stay whole, and their lengths dynamic."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

import sardonyx
from sardonyx._capture.patches.recurrences import _KERNELS, whole_recurrences
from sardonyx._transformers_private.kernels import kernel_of
from tests.harness import Session

BATCH, HEADS, SIZE, STATE = 2, 4, 6, 8


def randoms(*shape: int) -> torch.Tensor:
    return torch.randn(*shape)


def delta_rule(length: int, of_keys: bool) -> dict[str, Any]:
    heads = (BATCH, length, HEADS)
    groups = HEADS if of_keys else HEADS // 2
    decay = randoms(*heads, STATE) if of_keys else randoms(*heads)
    return {
        "query": randoms(BATCH, length, groups, STATE),
        "key": randoms(BATCH, length, groups, STATE),
        "value": randoms(*heads, SIZE),
        "g": -decay.abs(),
        "beta": randoms(*heads).sigmoid(),
        "initial_state": randoms(BATCH, HEADS, STATE, SIZE),
        "output_final_state": True,
        "use_qk_l2norm_in_kernel": True,
    }


def mamba2(length: int) -> dict[str, Any]:
    return {
        "hidden_states": randoms(BATCH, length, HEADS, SIZE),
        "dt": randoms(BATCH, length, HEADS),
        "A": -randoms(HEADS).abs(),
        "B": randoms(BATCH, length, 2, STATE),
        "C": randoms(BATCH, length, 2, STATE),
        "chunk_size": 16,
        "D": randoms(HEADS),
        "dt_bias": randoms(HEADS),
        "initial_states": randoms(BATCH, HEADS, SIZE, STATE),
        "dt_softplus": True,
        "return_final_states": True,
    }


def mamba(length: int) -> dict[str, Any]:
    return {
        "hidden_states": randoms(BATCH, SIZE, length),
        "dt": randoms(BATCH, SIZE, length),
        "A": -randoms(SIZE, STATE).abs(),
        "B": randoms(BATCH, STATE, length),
        "C": randoms(BATCH, STATE, length),
        "D": randoms(SIZE),
        "z": randoms(BATCH, SIZE, length),
        "delta_bias": randoms(SIZE),
        "delta_softplus": True,
    }


ARGUMENTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "chunk_gated_delta_rule": lambda length: delta_rule(length, of_keys=False),
    "fused_recurrent_gated_delta_rule": lambda length: delta_rule(length, of_keys=False),
    "chunk_kda": lambda length: delta_rule(length, of_keys=True),
    "fused_recurrent_kda": lambda length: delta_rule(length, of_keys=True),
    "mamba_chunk_scan_combined": mamba2,
    "selective_scan_fn": mamba,
}
MODELS = ("qwen3_next", "kimi_linear", "mamba2", "mamba")


class Of(nn.Module):
    """What a model is that calls the function of a module of transformers."""

    def __init__(self, module: Any, name: str) -> None:
        super().__init__()
        self.holder, self.name = module, name
        # Functions are looked for in the modules that the classes of a model are of.
        self.mixer = next(
            object.__new__(each)
            for each in vars(module).values()
            if isinstance(each, type)
            and issubclass(each, nn.Module)
            and each.__module__ == module.__name__
        )
        nn.Module.__init__(self.mixer)

    def forward(self, given: dict[str, Any]) -> Any:
        return getattr(self.holder, self.name)(**given)


def functions() -> Iterator[tuple[str, str, str]]:
    for model in MODELS:
        module = importlib.import_module(f"transformers.models.{model}.modeling_{model}")
        for name, value in list(vars(module).items()):
            if (kernel := kernel_of(value)) in _KERNELS:
                yield model, name, str(kernel and kernel[1])


def test_every_kernel_stands_for_a_function() -> None:
    assert {(kernel) for *_, kernel in functions()} == {name for _, name in _KERNELS}


@pytest.mark.parametrize(("model", "name", "kernel"), list(functions()))
def test_a_function_stays_whole(model: str, name: str, kernel: str) -> None:
    torch.manual_seed(0)
    module = importlib.import_module(f"transformers.models.{model}.modeling_{model}")
    caller = Of(module, name)
    tensors = {k: v for k, v in ARGUMENTS[kernel](5).items() if isinstance(v, torch.Tensor)}
    fixed = {k: v for k, v in ARGUMENTS[kernel](5).items() if k not in tensors}

    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.caller = caller

        def forward(self, given: dict[str, torch.Tensor]) -> Any:
            return self.caller({**given, **fixed})

    def lengths(key: str, value: torch.Tensor) -> dict[int, str]:
        return {axis: "length" for axis, size in enumerate(value.shape) if size == 5}

    program = sardonyx.export(
        Whole(),
        (tensors,),
        dynamic_shapes={"given": {k: lengths(k, v) for k, v in tensors.items()}},
        input_names=list(tensors),
    )
    assert "Scan" in {n.op_type for n in program.model_proto.graph.node}
    session = Session(program.model_proto.SerializeToString())
    for length in (1, 5, 70):
        given = ARGUMENTS[kernel](length)
        want = getattr(module, name)(**given)
        got = session.run([given[each] for each in session.inputs])
        for mine, theirs in zip(got, want if isinstance(want, tuple) else (want,), strict=True):
            torch.testing.assert_close(torch.as_tensor(mine), theirs, atol=2e-4, rtol=1e-4)


def test_what_has_no_form_in_the_operator_is_called_as_it_is() -> None:
    module = importlib.import_module("transformers.models.qwen3_next.modeling_qwen3_next")
    name = "torch_chunk_gated_delta_rule"
    with whole_recurrences(Of(module, name)):
        packed = {**delta_rule(5, of_keys=False), "cu_seqlens": torch.tensor([0, 3, 5])}
        with pytest.raises(ValueError, match="packed sequences"):
            getattr(module, name)(**packed)

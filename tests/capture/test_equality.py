"""Fake-tensor tracing's programs are torch.export's, line by line, but for what is explained.

`make capture-sweep` compares all of what this takes a part of.
"""

from __future__ import annotations

import zlib

import pytest
import torch
import torch.ao.quantization.fx._decomposed

from sardonyx._capture.meta_tracer.fallback import DeclinedError

from .comparison import Subject, difference
from .explaining import explained
from .samples import samples_within
from .subjects import GROUPS, Maker

quantized_decomposed = torch.ops.quantized_decomposed

# One subject of so many.
EVERY = {"operators": 200, "mutation": 60}


def some() -> dict[str, Maker]:
    """Those whose names' sums of digits say so, and so the same ones in every run."""
    chosen: dict[str, Maker] = {}
    for group, every in EVERY.items():
        for name, make in GROUPS[group]():
            if zlib.crc32(name.encode()) % every == 0:
                chosen[f"{group}.{name}"] = make
    return chosen


SOME = some()


@pytest.mark.parametrize("name", SOME)
def test_program_is_torch_exports(name):
    subject = SOME[name]()
    try:
        quick = subject.quickly()
    except DeclinedError:
        return  # torch.export's program is what is exported
    assert not difference(subject.by_torch(), quick)


class Scaled(torch.nn.Module):
    """Eager PyTorch takes the numbers of 0-d tensors where an overload wants numbers."""

    def __init__(self, *numbers):
        super().__init__()
        self.numbers = numbers

    def forward(self, x, *given):
        scale, zero = map(torch.tensor, self.numbers) if self.numbers else given
        return quantized_decomposed.dequantize_per_tensor(x, scale, zero, -128, 127, torch.int8)


@pytest.mark.parametrize(
    ("model", "given"),
    [(Scaled(0.1, 5), ()), (Scaled(), (torch.tensor(0.1), torch.tensor(5)))],
)
def test_an_overload_is_chosen_as_torch_export_does(model, given):
    subject = Subject(model, (torch.ones(4, 3, dtype=torch.int8), *given))
    assert not difference(subject.by_torch(), subject.quickly())


INPUT = "  %1: float32[s1, s2]"
UNDER_AUTOCAST = (
    "  %2: bfloat16[s1, s1] = higher_order::wrap_with_autocast(device_type='cpu', dtype=bfloat16, "
    "enabled=True, cache_enabled=False, @)"
)


@pytest.mark.parametrize(
    ("usual", "quick"),
    [
        (["s1: VR[2, int_oo]", INPUT], ["s1: VR[0, int_oo]", INPUT]),
        (["u_0: VR[-int_oo, int_oo]", INPUT], [INPUT]),
        (
            [INPUT, "  %2: int64[u_0], %3: int64[u_0] = aten::where(%1)", "  %3: int64[u_0]"],
            [INPUT, "  _, %2: int64[u_0] = aten::where(%1)", "  %2: int64[u_0]"],
        ),
        (
            [
                INPUT,
                "  %2: float32[s1, s2] = aten::to.device(%1, device=cpu)",
                "  %3: float32[s1, s2] = aten::copy_(%1, %2)",
            ],
            [INPUT, "  %2: float32[s1, s2] = aten::to.device(%1, device=cpu)"],
        ),
        (
            [INPUT, "  %2: float32[s1, s2] = aten::cos(%1)"],
            [
                INPUT,
                "  %2: float32[s1, s2] = aten::contiguous(%1)",
                "  %3: float32[s1, s2] = aten::cos(%2)",
            ],
        ),
        (
            [
                "s1: VR[2, 2]",
                "  %2: float32[1, s2] = aten::max_pool2d(%1, kernel_size=[2, 2])",
                "  %2: float32[1, s2]",
            ],
            [
                "s1: VR[2, 9]",
                "  %2: float32[s1 - 1, s2] = aten::max_pool2d(%1, kernel_size=[2, 2])",
                "  %2: float32[s1 - 1, s2]",
            ],
        ),
        (
            [INPUT + " strides [min(4*s2, s2), 1]"],
            [INPUT + " strides [s2, 1]"],
        ),
        (
            [
                INPUT,
                "  higher_order::wrap_with_set_grad_enabled(x=True, @)",
                "    @()",
                "      return",
            ],
            [INPUT],
        ),
        (
            [INPUT, "      %2: float32[s1, s2] = aten::slice.Tensor(%1, start=0, end=s1)"],
            [INPUT, "      %2: float32[s1, s2] = aten::slice.Tensor(%1, end=s1)"],
        ),
        (
            [
                INPUT,
                "  python::_enter_autocast(arg0='cpu', arg1=bfloat16, arg2=True, arg3=False)  # M",
                "  %2: bfloat16[s1, s1] = aten::mm(%1, %1)  # M, m.py:3",
                "  python::_exit_autocast()  # M",
                "  %3: bfloat16[s1, s1] = aten::cos(%2)  # M, m.py:4",
            ],
            [
                INPUT,
                UNDER_AUTOCAST,
                "    @()",
                "      %3: bfloat16[s1, s1] = aten::mm(%1, %1)",
                "      return %3",
                "  %4: bfloat16[s1, s1] = aten::cos(%2)  # M, m.py:4",
            ],
        ),
        (
            [
                INPUT,
                "  %2: int64[]  # constant _tensor_constant0, strides []",
                "  %3: float32[s1, s2] = aten::add.Tensor(%1, %2)",
            ],
            [
                "  %1: int64[]  # constant lifted_tensor_2, strides []",
                INPUT.replace("%1", "%2"),
                "  %3: float32[s1, s2] = aten::add.Tensor(%2, %1)",
            ],
        ),
        (
            [INPUT, "  %2: float32[s2] strides [0] = python::_remove_batch_dim(%1, arg1=1)"],
            [INPUT, "  %2: float32[s2] = python::_remove_batch_dim(%1, arg1=1)"],
        ),
    ],
)
def test_what_is_explained(usual, quick):
    assert explained(usual, quick)


ASSERTED = "Runtime assertion failed for expression Eq(((s1 + 63)//64), 1) on node 'eq'"


def test_sizes_are_what_torch_export_asserts_of_them():
    read = "  %3: float32[] = aten::sum(%2)"
    usual = [INPUT, "  %2: float32[1, 64, s2] = aten::cos(%1)", read]
    said = "[(s1 + 63)//64, 64, s2] strides [64*s2, s2, 1]"
    quick = [INPUT, f"  %2: float32{said} = aten::cos(%1)", read]
    assert explained(usual, quick) is None
    assert explained(usual, quick, samples_within(ASSERTED))
    assert all(2 <= each["s1"] <= 64 for each in samples_within(ASSERTED))
    assert not samples_within(ASSERTED.replace("Eq", "Ne"))
    transposed = [line.replace("64*s2, s2, 1", "64*s2, 1, 64") for line in quick]
    assert explained(usual, transposed, samples_within(ASSERTED)) is None


@pytest.mark.parametrize(
    ("usual", "quick"),
    [
        (["s1: VR[0, int_oo]", INPUT], ["s1: VR[2, int_oo]", INPUT]),
        (["s1: VR[2, 9]", INPUT], ["s1: VR[2, int_oo]", INPUT]),
        ([INPUT, "  %2: float32[s1, s2] = aten::cos(%1)"], [INPUT]),
        (
            [INPUT, "  %2: float32[s1, s2] = aten::cos(%1)"],
            [INPUT, "  %2: float32[s1, s2] = aten::sin(%1)"],
        ),
        ([INPUT], ["  %1: float32[s1, s2 + 1]"]),
        ([INPUT], ["  %1: float64[s1, s2]"]),
        # The number of parts is another for other sizes.
        (
            ["s1: VR[5, 5]", "  %2: float32[2, s2], %3: float32[3, s2] = aten::split(%1, size=2)"],
            [
                "s1: VR[2, 9]",
                "  %2: float32[2, s2], %3: float32[s1 - 2, s2] = aten::split(%1, size=2)",
            ],
        ),
        (
            [INPUT, "  %2: float32[s1, s2] = aten::copy_(%1, %1)"],
            [INPUT],
        ),
        ([INPUT + " strides [0]"], [INPUT]),
        (
            [INPUT, "  %2: float32[s1, s2] = aten::slice.Tensor(%1, start=1, end=s1)"],
            [INPUT, "  %2: float32[s1, s2] = aten::slice.Tensor(%1, end=s1)"],
        ),
        (
            [
                "  python::_enter_autocast(arg0='cpu', arg1=bfloat16, arg2=True, arg3=False)",
                "  %2: bfloat16[s1, s1] = aten::mm(%1, %1)",
                "  python::_exit_autocast()",
            ],
            [
                UNDER_AUTOCAST.replace("bfloat16, enabled", "float16, enabled"),
                "    @()",
                "      %3: bfloat16[s1, s1] = aten::mm(%1, %1)",
                "      return %3",
            ],
        ),
        (
            [
                "  %1: int64[]  # constant _tensor_constant0, strides []",
                "  %2: float32[]  # constant lifted_tensor_0, strides []",
                "  %3: float32[] = aten::div.Tensor(%1, %2)",
            ],
            [
                "  %1: float32[]  # constant lifted_tensor_0, strides []",
                "  %2: int64[]  # constant lifted_tensor_1, strides []",
                "  %3: float32[] = aten::div.Tensor(%1, %2)",
            ],
        ),
    ],
)
def test_all_other_differences_count(usual, quick):
    assert explained(usual, quick) is None

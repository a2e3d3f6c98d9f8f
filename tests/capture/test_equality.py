"""Quick capture's programs are torch.export's, line by line, but for what is explained.

`make capture-sweep` compares all of what this takes a part of.
"""

from __future__ import annotations

import zlib

import pytest

from sardonyx._capture.quick.declining import DeclinedError

from .comparison import difference
from .explaining import explained
from .subjects import GROUPS, Maker

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


INPUT = "  %1: float32[s1, s2]"


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
            [INPUT, "  %2: float32[s2] strides [0] = python::_remove_batch_dim(%1, arg1=1)"],
            [INPUT, "  %2: float32[s2] = python::_remove_batch_dim(%1, arg1=1)"],
        ),
    ],
)
def test_what_is_explained(usual, quick):
    assert explained(usual, quick)


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
    ],
)
def test_all_other_differences_count(usual, quick):
    assert explained(usual, quick) is None

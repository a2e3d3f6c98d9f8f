"""A sample of the node models, another one for each commit: `make node-models` takes all."""

from __future__ import annotations

import pytest

from tests.harness.rotation import rotating
from tests.node_models.cases import Case, load_cases
from tests.node_models.outcomes import Outcome, judged
from tests.node_models.refusals import is_expected

EVERY = 16
OPSETS = range(13, 29)


@pytest.fixture(scope="module")
def sample() -> list[Case]:
    return load_cases()[rotating(EVERY) :: EVERY]


def faults(outcomes: list[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.is_fault]


@pytest.mark.parametrize("runtime", ["onnxruntime", "standard"])
def test_optimized_models_give_the_same_answers(sample: list[Case], runtime: str) -> None:
    assert len(sample) > 100
    for case in sample:
        assert not faults(judged(case, [runtime], [None]))


def test_models_of_other_opsets_give_the_same_answers_or_are_refused(sample: list[Case]) -> None:
    kinds = set()
    for i, case in enumerate(sample):
        opsets = [opset for opset in OPSETS if (opset + i) % 4 == 0]
        outcomes = judged(case, ["onnxruntime", "standard"], opsets)
        assert not faults(outcomes)
        assert [o for o in outcomes if o.kind == "refused" and not is_expected(o.detail)] == []
        kinds |= {outcome.kind for outcome in outcomes}
    assert "right" in kinds


@pytest.mark.parametrize(
    "name",
    [
        "test_affine_grid_2d",
        "test_attention_4d_causal_nonpad_attn_mask_composition",
        "test_attention_24_fullymasked_qk_matmul_output_mode3_zero",
        "test_bitcast_bool_to_uint8",
        "test_center_crop_pad_crop_and_pad",
        "test_constant_pad_negative_axes",
        "test_cumprod_2d_negative_axis",
        "test_dft_irfft",
        "test_dft_rfft_opset19",
        "test_lppool_2d_dilations",
        "test_lstm_batchwise",
        "test_reduce_log_sum_exp_negative_axes_keepdims_random",
        "test_sequence_map_add_1_sequence_1_tensor",
    ],
)
def test_newer_operators_are_decomposed_for_opset_13(name: str) -> None:
    (case,) = (case for case in load_cases() if case.name == name)
    assert {o.kind for o in judged(case, ["onnxruntime", "standard"], [13])} == {"right"}


def test_computed_axes_of_dft_become_an_attribute() -> None:
    (case,) = (case for case in load_cases() if case.name == "test_dft_irfft")
    assert {o.kind for o in judged(case, ["standard"], [17])} == {"right"}

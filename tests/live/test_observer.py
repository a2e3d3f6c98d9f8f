"""`InputObserver`: what a model is really called with says what is exported."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from torch.export import Dim

import sardonyx
from tests.hf.checkpoints import llama_config

FREE = Dim.DYNAMIC


class Sum(torch.nn.Module):
    def forward(
        self, x: torch.Tensor, y: torch.Tensor | None = None, scale: float = 1.0
    ) -> torch.Tensor:
        return x * scale if y is None else x.sum(0) * scale + y.sum(0)


def watched(model: torch.nn.Module, *calls: Any, **options: Any) -> sardonyx.InputObserver:
    observer = sardonyx.InputObserver(**options)
    with observer(model):
        for args, kwargs in calls:
            model(*args, **kwargs)
    return observer


def exported(model: torch.nn.Module, observer: sardonyx.InputObserver) -> sardonyx.ONNXProgram:
    args, kwargs = observer.infer_arguments(as_args_kwargs=True)
    shapes = observer.infer_dynamic_shapes()
    return sardonyx.export(model, args, kwargs=kwargs, dynamic_shapes=shapes)


def test_what_differs_between_calls_varies() -> None:
    calls = [((torch.ones(rows, 4), torch.ones(rows + 1, 4)), {}) for rows in (2, 3)]
    observer = watched(Sum(), *calls)
    assert observer.num_obs() == 2
    assert observer.infer_dynamic_shapes() == ({0: FREE}, {0: FREE})
    x, y = observer.infer_arguments()
    assert (x.shape, y.shape) == ((2, 4), (3, 4))
    program = exported(Sum(), observer)
    (got,) = program(torch.ones(7, 4), torch.ones(0, 4))
    torch.testing.assert_close(got, torch.full((4,), 7.0))
    checked = observer.check_discrepancies(program)
    assert [each["SUCCESS"] for each in checked] == [True, True]
    assert [each["index"] for each in checked] == [0, 1]


def test_inputs_by_keyword_that_some_calls_leave_out() -> None:
    x, y = torch.ones(2, 4), torch.ones(3, 4)
    given: list[dict[str, Any]] = [{}, {"y": y}, {"y": y[:1]}]
    observer = watched(Sum(), *(((x,), {**each, "scale": 2.0}) for each in given))
    assert observer.infer_dynamic_shapes() == {"x": {}, "y": {0: FREE}, "scale": None}
    assert observer.infer_arguments()["y"].shape == (3, 4)
    first = observer.infer_arguments(0)
    assert first["y"].shape == (0, 4)
    assert first["scale"] == 2.0
    batch = observer.infer_dynamic_shapes(set_batch_dimension_for={"x"})
    assert batch == {"x": {0: FREE}, "y": {0: FREE}, "scale": None}


def test_an_input_that_no_call_has_beside_the_others() -> None:
    observer = watched(Sum(), ((torch.ones(2, 4),), {}), value_if_missing={"y": torch.ones(0, 4)})
    assert observer.infer_arguments()["y"].shape == (0, 4)


def test_the_method_is_the_model_s_again_and_calls_are_copied() -> None:
    model, x = Sum(), torch.ones(2, 4)
    observer = sardonyx.InputObserver()
    with observer(model, store_n_calls=1):
        model(x)
        x.zero_()
        model(x)
    assert "forward" not in vars(model)
    assert observer.num_obs() == 1
    assert observer.infer_arguments()[0].sum() == 8


def test_a_language_model_that_generates() -> None:
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(llama_config()).eval()
    ids = torch.tensor([[5, 6, 7, 8]])
    observer = sardonyx.InputObserver()
    with observer(model):
        model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=4, do_sample=False,
            pad_token_id=0,
        )  # fmt: skip
    program = exported(model, observer)
    checked = observer.check_discrepancies(program)
    assert [each["SUCCESS"] for each in checked] == [True, True, True], checked


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ([], "no call was watched"),
        ([((torch.ones(2, 4),), {}), ((torch.ones(4),), {})], "different ranks"),
        ([((torch.ones(2, 4),), {"scale": s}) for s in (2.0, 3.0)], "calls differ"),
    ],
)
def test_what_cannot_be_one_model(calls: list[Any], message: str) -> None:
    with pytest.raises(sardonyx.UsageError, match=message):
        watched(Sum(), *calls).infer_dynamic_shapes()

"""`sardonyx.transformers`: Sardonyx as a backend of transformers' own exporters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import sardonyx
from sardonyx._transformers_private.exporters import BACKENDS
from sardonyx.errors import UsageError

if not BACKENDS.available:
    pytest.skip(f"no exporters: {BACKENDS.reason}", allow_module_level=True)

from transformers.exporters import AutoHfExporter, ExportedModel, OnnxConfig

from sardonyx.transformers import SardonyxConfig, SardonyxExporter

_SIZES = {
    "vocab_size": 99,
    "hidden_size": 32,
    "intermediate_size": 37,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}


def _llama() -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**_SIZES, num_key_value_heads=2)
    return transformers.LlamaForCausalLM(config).eval()


def _bert() -> Any:
    torch.manual_seed(0)
    return transformers.BertModel(transformers.BertConfig(**_SIZES)).eval()


def _tokens(batch: int, length: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(3, 99, (batch, length), generator=generator)
    mask = torch.ones_like(ids)
    mask[0, :2] = 0
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.filterwarnings("ignore::sardonyx.errors.SpecializationWarning")
def test_prefill_and_decode_are_one_graph_with_its_weights_once(tmp_path: Path) -> None:
    model = _llama()
    exporter = SardonyxExporter()
    made = exporter.export_for_generation(model, _tokens(2, 7), OnnxConfig(dynamic=True))
    assert made.components["prefill"].program is made.components["decode"].program

    made.save_pretrained(tmp_path)
    assert (tmp_path / "prefill.onnx.data").samefile(tmp_path / "decode.onnx.data")
    runners = ExportedModel.from_pretrained(tmp_path).runners

    given = _tokens(3, 9)
    given["position_ids"] = (given["attention_mask"].cumsum(-1) - 1).clamp(min=0)
    with torch.no_grad():
        expected = model(**given)
        result = runners["prefill"](**given)
        cache = next(name for name in expected if name != "logits")
        for _ in range(3):
            assert type(result) is type(expected)
            torch.testing.assert_close(result.logits, expected.logits, atol=1e-4, rtol=1e-4)
            assert result[cache].get_seq_length() == expected[cache].get_seq_length()
            mask = given["attention_mask"]
            given = {
                "input_ids": expected.logits[:, -1:].argmax(-1),
                "attention_mask": torch.cat([mask, torch.ones_like(mask[:, :1])], 1),
                "position_ids": given["position_ids"][:, -1:] + 1,
            }
            result = runners["decode"](**given, **{cache: result[cache]})
            expected = model(**given, **{cache: expected[cache]})


@pytest.mark.filterwarnings("ignore::sardonyx.errors.SpecializationWarning")
def test_a_model_comes_back_from_its_folder_as_the_backend_that_is_registered(
    tmp_path: Path,
) -> None:
    model, given = _bert(), _tokens(2, 7)
    config = SardonyxConfig(dynamic=True, target_runtime="onnxruntime-cpu")
    made = AutoHfExporter.from_config(config).export(model, given, config)
    assert type(made.runners["model"]).__name__ == "SardonyxRunner"
    made.save_pretrained(tmp_path)
    read = ExportedModel.from_pretrained(tmp_path)
    other = _tokens(1, 5)
    with torch.no_grad():
        expected = model(**other)
    for each in (made, read):
        result = each(**other)
        assert type(result) is type(expected)
        torch.testing.assert_close(
            result.last_hidden_state, expected.last_hidden_state, atol=1e-4, rtol=1e-4
        )
    assert read.dtype is torch.float32
    assert read.device.type == "cpu"


def test_a_result_of_several_structures_is_made_again() -> None:
    class Several(torch.nn.Module):
        def forward(self, x: torch.Tensor, pair: Any, scale: int = 2) -> Any:
            doubled = x * scale
            return {"first": doubled, "rest": (pair["a"] + 1, [doubled, None, "a word"])}

    given = {"x": torch.ones(2, 3), "pair": {"a": torch.zeros(4)}, "scale": 3}
    made = SardonyxExporter().export(Several(), given, {})
    result = made(**given)
    torch.testing.assert_close(result["first"], torch.full((2, 3), 3.0))
    assert result["rest"][1][1:] == [None, "a word"]
    torch.testing.assert_close(result["rest"][0], torch.ones(4))
    with pytest.raises(UsageError, match=r"the graph takes pair \(1 tensors, got 0\)"):
        made(x=given["x"])  # no cache: nothing stands for it


def test_a_static_cache_before_its_first_run_is_an_argument_and_its_sizes_are_results() -> None:
    class Writes(torch.nn.Module):
        def forward(self, x: torch.Tensor, cache: Any) -> Any:
            keys, values = cache.update(x, x + 1, 0)
            return {"cache": cache, "sum": (keys * values).sum()}

    def inputs(batch: int) -> dict[str, Any]:
        x = torch.arange(batch * 12, dtype=torch.float32).reshape(batch, 1, 3, 4)
        cache = transformers.cache_utils.DynamicCache()
        cache.layers = [transformers.cache_utils.StaticLayer(8)]
        return {"x": x, "cache": cache}

    made = SardonyxExporter().export(Writes(), inputs(2), {"dynamic": True})
    result, expected = made(**inputs(5)), Writes()(**inputs(5))
    torch.testing.assert_close(result["sum"], expected["sum"])
    layer = result["cache"].layers[0]
    torch.testing.assert_close(layer.keys, expected["cache"].layers[0].keys)
    assert layer.batch_size == 5
    assert int(layer.cumulative_length) == 3


@pytest.mark.filterwarnings("ignore::sardonyx.errors.SpecializationWarning")
def test_a_dimension_of_1_that_a_model_removes_is_not_dynamic() -> None:
    class Removes(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.squeeze(0) * 2

    made = SardonyxExporter().export(Removes(), {"x": torch.ones(1, 3)}, {"dynamic": True})
    x = torch.randn(1, 5)
    torch.testing.assert_close(made(x=x), Removes()(x))


def test_one_tensor_as_two_arguments_is_two_inputs() -> None:
    class Both(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x - 2 * y

    same = torch.ones(2, 3)
    made = SardonyxExporter().export(Both(), {"x": same, "y": same}, {"dynamic": True})
    x, y = torch.randn(4, 5), torch.randn(4, 5)
    torch.testing.assert_close(made(x=x, y=y), x - 2 * y)


def test_elements_that_a_model_takes_for_numbers_are_constants_of_the_graph() -> None:
    class Splits(torch.nn.Module):
        def forward(self, x: torch.Tensor, grids: torch.Tensor) -> torch.Tensor:
            images = [[x] * width for height, width in grids.tolist() for _ in range(height)]
            return torch.cat([each for image in images for each in image])

    given = {"x": torch.ones(2, 3), "grids": torch.tensor([[1, 2], [2, 1]])}
    made = SardonyxExporter().export(Splits(), given, {"dynamic": True})
    x = torch.randn(5, 3)
    torch.testing.assert_close(made(**{**given, "x": x}), Splits()(x, given["grids"]))
    with pytest.raises(UsageError, match=r"exported for grids=\[\[1, 2\], \[2, 1\]\]"):
        made(x=x, grids=torch.tensor([[2, 2]]))


def test_elements_that_no_constant_dimension_answers_are_captured_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Splits(torch.nn.Module):
        def forward(self, x: torch.Tensor, grids: torch.Tensor) -> torch.Tensor:
            return torch.cat([x] * sum(height * width for height, width in grids.tolist()))

    captures: list[Any] = []

    def counting_export(*args: Any, **options: Any) -> Any:
        captures.append(options["kwargs"])
        return sardonyx.export(*args, **options)

    monkeypatch.setattr("sardonyx.transformers.exporter.export", counting_export)
    inputs = {"x": torch.ones(1, 3), "grids": torch.tensor([[1, 2], [2, 1]])}
    made = SardonyxExporter().export(Splits(), inputs, {"dynamic": True})
    torch.testing.assert_close(made(**inputs), Splits()(**inputs))
    assert ["grids" in each for each in captures].count(True) == 1


def test_static_caches_of_an_encoder_and_a_decoder_know_which_have_keys() -> None:
    class Reads(torch.nn.Module):
        def forward(self, x: torch.Tensor, cache: Any) -> torch.Tensor:
            keys, _ = cache.self_attention_cache.update(x, x, 0)
            is_known = cache.is_updated.get(0, False)
            return keys + cache.cross_attention_cache.layers[0].keys.sum() if is_known else keys

    def inputs(value: float) -> dict[str, Any]:
        sides = []
        for _ in range(2):
            side = transformers.StaticCache(transformers.LlamaConfig(**_SIZES), max_cache_len=6)
            side.update(torch.full((2, 4, 3, 8), value), torch.ones(2, 4, 3, 8), 0)
            side.update(torch.full((2, 4, 3, 8), value), torch.ones(2, 4, 3, 8), 1)
            sides.append(side)
        cache = transformers.EncoderDecoderCache(*sides)
        return {"x": torch.full((2, 4, 2, 8), value), "cache": cache}

    made = SardonyxExporter().export(Reads(), inputs(2.0), {})
    torch.testing.assert_close(made(**inputs(3.0)), Reads()(**inputs(3.0)))


def test_what_the_backend_does_not_take_is_an_error() -> None:
    exporter = SardonyxExporter()
    linear, given = torch.nn.Linear(2, 2), {"input": torch.ones(1, 2)}
    with pytest.raises(UsageError, match="SardonyxConfig has no option shapes"):
        exporter.export(linear, given, {"shapes": True})
    with pytest.raises(UsageError, match="strict=True"):
        exporter.export(linear, given, OnnxConfig(strict=True))
    with pytest.raises(UsageError, match=r"sardonyx\.quantize"):
        exporter.export(linear, given, SardonyxConfig(quantizer=object()))
    made = exporter.export(linear, given, SardonyxConfig())
    with pytest.raises(UsageError, match=r"the graph takes input \(1 tensors, got 0\)"):
        made()
    with pytest.raises(UsageError, match="does not run on cuda"):
        made.to("cuda")
